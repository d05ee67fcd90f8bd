/** The faults to inject. All are off by default. */
export interface FaultSettings {
  /** Adds this latency to every call, in milliseconds, plus up to `jitterMs`. */
  readonly latencyMs: number;
  readonly jitterMs: number;
  /** Adds this latency to ExecuteTransaction, on top of `latencyMs`. */
  readonly executeLatencyMs: number;
  /** Executes the transaction and breaks the connection before the reply. */
  readonly dropReply: Probability;
  /** Refuses a call with RESOURCE_EXHAUSTED. */
  readonly rateLimit: Probability;
  /** Leaves a call without an answer until its client gives up. */
  readonly timeout: Probability;
  /** Answers a read from a node that is `staleCommits` commits behind. */
  readonly staleRead: Probability;
  readonly staleCommits: number;
  /** Refuses subscriptions with UNIMPLEMENTED, as a node without them does. */
  readonly noSubscriptions: boolean;
  /** Breaks the connection of a subscription instead of sending a checkpoint. */
  readonly cutSubscription: Probability;
  /** Prunes all but this number of checkpoints; 0 keeps them all. */
  readonly keptCheckpoints: number;
  /** Refuses a transaction as if one of its objects had another version. */
  readonly versionConflict: Probability;
  /** Cancels a transaction because of congested shared objects. It pays gas and has no effect. */
  readonly congestion: Probability;
  readonly abortCalls: readonly AbortRule[];
  readonly rejectSessions: Readonly<Partial<Record<SessionName, Probability>>>;
  /** Delays a session by this time, plus up to `completionJitterMs`. */
  readonly completionDelayMs: number;
  readonly completionJitterMs: number;
  /** Stops the processing of sessions. */
  readonly paused: boolean;
  /** Flips one bit of a signature. */
  readonly corruptSignature: Probability;
}

/** A probability: 0 never, 1 always. */
export type Probability = number;

/** The kinds of session that the network processes. */
export type SessionName = (typeof SESSION_NAMES)[number];

/** Their names in `rejectSessions`. */
const SESSION_NAMES = [
  "dkg",
  "presign",
  "sign",
  "importedKey",
  "encryptedShare",
  "futureSign",
  "publicShare",
] as const;

/** Makes calls of one Move function abort. */
export interface AbortRule {
  /** `module::function`, such as `treasury::pay_sign`. */
  readonly function: string;
  /** The module that the abort names. Default: the function's own. */
  readonly module?: string;
  readonly code: number;
  /** Default 1. */
  readonly probability?: Probability;
}

export const NO_FAULTS: FaultSettings = {
  latencyMs: 0,
  jitterMs: 0,
  executeLatencyMs: 0,
  dropReply: 0,
  rateLimit: 0,
  timeout: 0,
  staleRead: 0,
  staleCommits: 3,
  noSubscriptions: false,
  cutSubscription: 0,
  keptCheckpoints: 0,
  versionConflict: 0,
  congestion: 0,
  abortCalls: [],
  rejectSessions: {},
  completionDelayMs: 0,
  completionJitterMs: 0,
  paused: false,
  corruptSignature: 0,
};

/** Thrown for an invalid value of a setting. */
export class FaultSettingsError extends Error {
  override readonly name = "FaultSettingsError";
}

/** Checks settings from JSON. Throws FaultSettingsError with the field, the value and the expected form. */
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
  noSubscriptions: boolean,
  cutSubscription: probability,
  keptCheckpoints: integer(0, Number.MAX_SAFE_INTEGER),
  versionConflict: probability,
  congestion: probability,
  abortCalls(name, value) {
    if (!Array.isArray(value) || value.length > MAX_RULES) fail(name, value, `at most ${MAX_RULES} rules`);
    for (const [index, rule] of value.entries()) checkRule(`${name}[${index}]`, rule);
  },
  rejectSessions(name, value) {
    if (!isObject(value)) fail(name, value, "an object");
    for (const [kind, chance] of Object.entries(value)) {
      if (!(SESSION_NAMES as readonly string[]).includes(kind))
        fail(`${name}.${kind}`, chance, `one of ${SESSION_NAMES.join(", ")}`);
      probability(`${name}.${kind}`, chance);
    }
  },
  completionDelayMs: milliseconds,
  completionJitterMs: milliseconds,
  paused: boolean,
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

function boolean(name: string, value: unknown): void {
  if (typeof value !== "boolean") fail(name, value, "true or false");
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
