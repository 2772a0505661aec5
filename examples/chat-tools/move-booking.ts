import { bookings } from './find-booking.ts';

type Days = Readonly<Record<string, string>>;
type Call = {
  readonly args: { readonly booking: string; readonly new_day: string };
  readonly state: { readonly days: Days } | null;
};

/** Moves a booking. What it changed is returned as the new state, which is journaled: a killed worker loses nothing. */
export default function moveBooking({ args: { booking, new_day }, state }: Call): {
  readonly result: object;
  readonly state?: object;
} {
  const days = state?.days ?? bookings;
  if (days[booking] === undefined) return { result: { error: `there is no booking ${booking}` } };
  return {
    result: { booking, moved_to: new_day, status: 'confirmed' },
    state: { days: { ...days, [booking]: new_day } },
  };
}
