/** A share of all cases: 0 never, 1 always. */
export type Probability = number;

/** The kinds of session that the network works on. */
export type SessionName = "dkg" | "presign" | "sign";

/** Makes calls of one Move function abort. */
export interface AbortRule {
  /** `module::function`, as `treasury::pay_sign`. */
  readonly function: string;
  /** The module that the abort names; default the function's own. */
  readonly module?: string;
  readonly code: number;
  /** Default 1. */
  readonly probability?: Probability;
}

/** What may go wrong. Everything is off by default. */
export interface FaultSettings {
  /** Every call takes this much longer, in milliseconds, and up to `jitterMs` more. */
  readonly latencyMs: number;
  readonly jitterMs: number;
  /** ExecuteTransaction takes this much longer, beside `latencyMs`. */
  readonly executeLatencyMs: number;
  /** The transaction executes, and the connection breaks before the reply. */
  readonly dropReply: Probability;
  /** Any call is refused with RESOURCE_EXHAUSTED. */
  readonly rateLimit: Probability;
  /** Any call gets no answer until its client gives up. */
  readonly timeout: Probability;
  /** A read is answered by a node that is `staleCommits` commits behind. */
  readonly staleRead: Probability;
  readonly staleCommits: number;
  /** A transaction is refused as if one of its objects had another version. */
  readonly versionConflict: Probability;
  /** A transaction is cancelled because its shared objects are congested; it pays gas and does nothing. */
  readonly congestion: Probability;
  readonly abortCalls: readonly AbortRule[];
  /** The network rejects a session. */
  readonly rejectSessions: Readonly<Partial<Record<SessionName, Probability>>>;
  /** The network takes this much longer for a session, and up to `completionJitterMs` more. */
  readonly completionDelayMs: number;
  readonly completionJitterMs: number;
  /** The network works on no session. */
  readonly paused: boolean;
  /** A signature comes out with one bit changed. */
  readonly corruptSignature: Probability;
}

/** Nothing goes wrong. */
export const NO_FAULTS: FaultSettings = {
  latencyMs: 0,
  jitterMs: 0,
  executeLatencyMs: 0,
  dropReply: 0,
  rateLimit: 0,
  timeout: 0,
  staleRead: 0,
  staleCommits: 3,
  versionConflict: 0,
  congestion: 0,
  abortCalls: [],
  rejectSessions: {},
  completionDelayMs: 0,
  completionJitterMs: 0,
  paused: false,
  corruptSignature: 0,
};

/** A value that is not what its setting takes. */
export class FaultSettingsError extends Error {
  override readonly name = "FaultSettingsError";
}

/** Checks settings that came as JSON. Throws FaultSettingsError naming the field, what was found and what is expected. */
export function parseFaultSettings(json: unknown): Partial<FaultSettings> {
  if (!isObject(json)) fail("the body", json, "an object");
  for (const [name, value] of Object.entries(json)) {
    const check = CHECKS[name as keyof FaultSettings];
    if (check === undefined) fail(name, value, `one of ${Object.keys(NO_FAULTS).join(", ")}`);
    check(name, value);
  }
  return json as Partial<FaultSettings>;
}

type Check = (name: string, value: unknown) => void;

const MAX_MS = 24 * 60 * 60 * 1000;
const MAX_STALE_COMMITS = 1_000;
const MAX_RULES = 100;

const CHECKS: Readonly<Record<keyof FaultSettings, Check>> = {
  latencyMs: milliseconds,
  jitterMs: milliseconds,
  executeLatencyMs: milliseconds,
  dropReply: probability,
  rateLimit: probability,
  timeout: probability,
  staleRead: probability,
  staleCommits: integer(1, MAX_STALE_COMMITS),
  versionConflict: probability,
  congestion: probability,
  abortCalls(name, value) {
    if (!Array.isArray(value) || value.length > MAX_RULES) fail(name, value, `at most ${MAX_RULES} rules`);
    for (const [index, rule] of value.entries()) checkRule(`${name}[${index}]`, rule);
  },
  rejectSessions(name, value) {
    if (!isObject(value)) fail(name, value, "an object");
    for (const [kind, chance] of Object.entries(value)) {
      if (!["dkg", "presign", "sign"].includes(kind)) fail(`${name}.${kind}`, chance, "dkg, presign or sign");
      probability(`${name}.${kind}`, chance);
    }
  },
  completionDelayMs: milliseconds,
  completionJitterMs: milliseconds,
  paused(name, value) {
    if (typeof value !== "boolean") fail(name, value, "true or false");
  },
  corruptSignature: probability,
};

function checkRule(name: string, rule: unknown): void {
  if (!isObject(rule)) fail(name, rule, "{function, code, module?, probability?}");
  const { function: target, module, code, probability: chance = 1 } = rule;
  if (typeof target !== "string" || !/^\w+::\w+$/.test(target))
    fail(`${name}.function`, target, "module::function");
  if (module !== undefined && typeof module !== "string") fail(`${name}.module`, module, "a module's name");
  integer(0, Number.MAX_SAFE_INTEGER)(`${name}.code`, code);
  probability(`${name}.probability`, chance);
}

function probability(name: string, value: unknown): void {
  if (typeof value !== "number" || !(value >= 0 && value <= 1)) fail(name, value, "a number from 0 to 1");
}

function milliseconds(name: string, value: unknown): void {
  integer(0, MAX_MS)(name, value);
}

function integer(min: number, max: number): Check {
  return (name, value) => {
    if (!Number.isInteger(value) || (value as number) < min || (value as number) > max)
      fail(name, value, `an integer from ${min} to ${max}`);
  };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function fail(name: string, value: unknown, expected: string): never {
  throw new FaultSettingsError(`${name} is ${JSON.stringify(value)?.slice(0, 100)}; expected ${expected}`);
}
