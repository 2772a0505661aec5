/** What a tool module gets: the model's arguments, and the state that the tools of this run share. */
type Call = { readonly args: { readonly booking: string }; readonly state: { readonly days: Days } | null };
type Days = Readonly<Record<string, string>>;

export const bookings: Days = { B17: 'Monday', B18: 'Tuesday', B19: 'Friday' };

/** Looks a booking up: where it was moved, as the state has it. */
export default function findBooking({ args: { booking }, state }: Call): { readonly result: object } {
  const date = (state?.days ?? bookings)[booking];
  return {
    result: date === undefined ? { error: `there is no booking ${booking}` } : { booking, booked_for: date },
  };
}
