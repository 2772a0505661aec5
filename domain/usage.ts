export type Role = 'driver' | 'target' | 'judge';

/** Tokens and money of one role. `estimated`: some counts are estimates, as no usage was reported. */
export type RoleUsage = {
  readonly calls: number;
  /** Calls that were paid for and whose answer could not be used (repeated after a crash, or ignored). */
  readonly wastedCalls: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly costUsd: number;
  readonly estimated: boolean;
};

export type Usage = { readonly [role in Role]: RoleUsage };

export const roles: readonly Role[] = ['driver', 'target', 'judge'];

export const noRoleUsage: RoleUsage = {
  calls: 0,
  wastedCalls: 0,
  inputTokens: 0,
  outputTokens: 0,
  costUsd: 0,
  estimated: false,
};

export const noUsage: Usage = { driver: noRoleUsage, target: noRoleUsage, judge: noRoleUsage };

function addRoleUsage(a: RoleUsage, b: RoleUsage): RoleUsage {
  return {
    calls: a.calls + b.calls,
    wastedCalls: a.wastedCalls + b.wastedCalls,
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    costUsd: a.costUsd + b.costUsd,
    estimated: a.estimated || b.estimated,
  };
}

/** The sum of two usages, role by role. */
export function addUsage(a: Usage, b: Usage): Usage {
  return {
    driver: addRoleUsage(a.driver, b.driver),
    target: addRoleUsage(a.target, b.target),
    judge: addRoleUsage(a.judge, b.judge),
  };
}

/** The sum over the roles. */
export function totalUsage(usage: Usage): RoleUsage {
  return addRoleUsage(addRoleUsage(usage.driver, usage.target), usage.judge);
}

/** Tokens of one call, as reported by the reply or estimated. */
export type TokenUsage = {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly estimated: boolean;
};
