import { type Curve, type TssClient, TssError } from "../client/sdk/index.ts";
import type { Log } from "../service/platform/telemetry/logger.ts";
import { type Caller, EVERYONE } from "./access/caller.ts";
import { createFairPlaces } from "./access/fair-places.ts";
import { SignerError, wrongField } from "./signer-error.ts";
import type { ActiveDWallet, KeyProgress, KeyStore, StoredKey } from "./store/key-store.ts";
import { randomSeeds, type SeedSource } from "./store/seed-source.ts";

/** A key that can sign. */
export interface ActiveKey extends StoredKey {
  readonly progress: { readonly kind: "active"; readonly dwallet: ActiveDWallet };
}

/** The keys of a signer. */
export interface Keys {
  /**
   * Makes the key of a name, or returns it. Calls for one name share one onboarding, which goes on if a caller leaves.
   * Throws SignerError CALLER_NOT_ALLOWED, KEY_CURVE_DIFFERS, KEY_USER_DIFFERS, TOO_MANY_KEYS, SIGNER_BUSY or
   * STORE_UNAVAILABLE, and any TssError of an onboarding.
   *
   * @param onStage called when a stage of the onboarding begins
   */
  create(request: NewKey, caller: Caller, onStage?: OnStage): Promise<StoredKey>;
  /** Returns a key. Throws SignerError KEY_NOT_FOUND. */
  get(name: string): StoredKey;
  /** Returns a key that can sign. Throws SignerError KEY_NOT_FOUND or KEY_NOT_ACTIVE. */
  getActive(name: string): ActiveKey;
  list(): readonly StoredKey[];
  /** Interrupts the running onboardings, and waits for them. The next CreateKey continues them. */
  stop(): Promise<void>;
}

/** Hears of a stage that begins, with the milliseconds since the start of the onboarding. */
export type OnStage = (name: string, elapsedMs: number) => void;

/** The key that a caller asks for. */
export interface NewKey {
  readonly name: string;
  readonly curve: Curve;
  /** The user of the project that the key belongs to. Undefined for none. */
  readonly userReference?: string | undefined;
}

/** Creates the keys over a store. */
export function createKeys({
  store,
  client,
  log,
  seeds = randomSeeds,
  callerNames = () => [EVERYONE.name],
  maxCount = MAX_KEYS,
  now = Date.now,
}: KeysOptions): Keys {
  const stopping = new AbortController();
  const running = new Map<string, Onboarding>();
  const places = createFairPlaces(MAX_ONBOARDINGS, callerNames, "keys");
  const get = (name: string): StoredKey => {
    const key = store.find(name);
    if (key === undefined)
      throw new SignerError("KEY_NOT_FOUND", "the signer has no key of this name", { metadata: { name } });
    return key;
  };
  return {
    async create(request, caller, onStage) {
      const { name, curve } = request;
      const stored = store.find(name);
      const others = otherNames(name);
      const known = running.get(name) ?? stored;
      // A key that is begun may finish, also if the caller has too many keys by now.
      caller.checkCreate(name, curve, known === undefined ? others : []);
      if (known !== undefined) checkSame(request, known);
      if (stored?.progress.kind === "active") return stored;
      const begun = running.get(name);
      if (begun !== undefined) return await listening(begun, onStage);
      if (stored === undefined && others.size >= maxCount)
        throw new SignerError("TOO_MANY_KEYS", `the signer keeps at most ${maxCount} keys`, {
          metadata: { maxCount: String(maxCount) },
        });
      const listeners = new Set<OnStage>();
      const key = places.use(caller.name, 1, () =>
        onboard(stored ?? newKey(request), stored === undefined, listeners),
      );
      const onboarding = { ...request, key, listeners };
      running.set(name, onboarding);
      try {
        return await listening(onboarding, onStage);
      } finally {
        running.delete(name);
      }
    },
    get,
    getActive(name) {
      const key = get(name);
      if (isActive(key)) return key;
      throw new SignerError(
        "KEY_NOT_ACTIVE",
        "the key is not active yet; CreateKey continues its onboarding",
        {
          metadata: { name },
        },
      );
    },
    list: () => store.list(),
    async stop() {
      stopping.abort();
      await Promise.allSettled([...running.values()].map(({ key }) => key));
    },
  };

  /** Returns the names of all other keys, also of those that are not in the store yet. */
  function otherNames(name: string): ReadonlySet<string> {
    const names = new Set([...store.list().map((key) => key.name), ...running.keys()]);
    names.delete(name);
    return names;
  }

  function newKey({ name, curve, userReference }: NewKey): StoredKey {
    const seed = seeds({ name, curve, userReference });
    const owner = userReference === undefined ? {} : { userReference };
    return { name, curve, ...owner, seed, createTimeMs: now(), progress: { kind: "creating" } };
  }

  /** The seed is in the store before the service hears of the key. */
  async function add(made: StoredKey): Promise<StoredKey> {
    const key = await store.add(made).catch(throwUnwritten);
    const { name, curve } = key;
    log.info({ audit: "key", keyName: name, curve, outcome: "seed stored" }, "a seed is stored");
    checkSame(made, key);
    return key;
  }

  async function onboard(
    found: StoredKey,
    isNew: boolean,
    listeners: ReadonlySet<OnStage>,
  ): Promise<StoredKey> {
    const key = isNew ? await add(found) : found;
    if (key.progress.kind === "active") return key;
    const { name, curve, userReference, seed, progress } = key;
    const save = (changed: KeyProgress) => store.setProgress(name, changed).catch(throwUnwritten);
    const { resumeToken } = progress;
    const options = {
      signal: stopping.signal,
      onProgress(stage: string, elapsedMs: number) {
        if (stage !== "done") for (const listener of listeners) listener(stage, elapsedMs);
      },
      onResumeToken: (token: string) => save({ kind: "creating", resumeToken: token }),
    };
    try {
      const made =
        resumeToken === undefined
          ? await client.getOrCreate({ seed, curve, name, userReference }, options)
          : await client.resume(resumeToken, { seed }, options);
      if (!("dwallet" in made)) throw new Error("the token is of another action");
      const { dwallet, publicKeyHex, sessionDigestHex } = made;
      const active = { dwalletId: dwallet.id, publicKeyHex, sessionDigestHex };
      await save({ kind: "active", dwallet: active });
      log.info(
        { audit: "key", keyName: name, curve, dwalletId: dwallet.id, outcome: "active" },
        "a key is active",
      );
      return get(name);
    } catch (thrown) {
      // The SDK wraps the signer's own failure, such as a key file that cannot be written.
      const isOwn = thrown instanceof TssError && thrown.cause instanceof SignerError;
      const error: unknown = isOwn ? thrown.cause : thrown;
      const reason = error instanceof TssError || error instanceof SignerError ? error.reason : "INTERNAL";
      log.info({ audit: "key", keyName: name, curve, outcome: reason }, "a key is not active");
      // The session cannot succeed any more. The name at the service keeps the next one from being charged twice.
      if (error instanceof TssError && error.resumeToken === undefined) await save({ kind: "creating" });
      if (error instanceof TssError && error.reason === "SHARE_UNVERIFIED")
        throw wrongField("name", OTHER_SEED);
      throw error;
    }
  }
}

/** An onboarding that runs. */
interface Onboarding extends NewKey {
  readonly key: Promise<StoredKey>;
  /** The callers that wait for it and want to hear of its stages. */
  readonly listeners: Set<OnStage>;
}

/** Waits for an onboarding, and hears of its stages until then. */
async function listening({ key, listeners }: Onboarding, onStage: OnStage | undefined): Promise<StoredKey> {
  if (onStage === undefined) return await key;
  listeners.add(onStage);
  try {
    return await key;
  } finally {
    listeners.delete(onStage);
  }
}

/** Options of {@link createKeys}. */
interface KeysOptions {
  readonly store: KeyStore;
  readonly client: Pick<TssClient, "getOrCreate" | "resume">;
  readonly log: Log;
  /** Makes the seeds of new keys. Default: at random. */
  readonly seeds?: SeedSource | undefined;
  /** The names of all callers, which share the places. Default: the one of a signer without a file of callers. */
  readonly callerNames?: (() => readonly string[]) | undefined;
  /** Default {@link MAX_KEYS}. */
  readonly maxCount?: number | undefined;
  /** The time in milliseconds. Default: that of the system. */
  readonly now?: () => number;
}

/** The maximum number of keys. Each change writes the whole file: for so many keys, 4 MB in about 0.2 s. */
const MAX_KEYS = 10_000;
/** The maximum number of onboardings at a time, unless there are more callers. */
const MAX_ONBOARDINGS = 8;
const OTHER_SEED =
  "the project has a dWallet of this name that another seed made: restore the key file that has the key, use its master seed, or choose another name";

/** Refuses a key of the same name on another curve or of another user. */
function checkSame({ name, curve, userReference }: NewKey, known: NewKey): void {
  if (known.curve !== curve) {
    const description = `the key of this name is on ${known.curve}`;
    throw new SignerError("KEY_CURVE_DIFFERS", `curve: ${description}`, {
      metadata: { name, curve: known.curve },
      violations: [{ field: "curve", description }],
    });
  }
  if (known.userReference !== userReference) {
    const description = "the key of this name belongs to another user, or to none";
    throw new SignerError("KEY_USER_DIFFERS", `user_reference: ${description}`, {
      metadata: { name },
      violations: [{ field: "user_reference", description }],
    });
  }
}

function isActive(key: StoredKey): key is ActiveKey {
  return key.progress.kind === "active";
}

function throwUnwritten(cause: unknown): never {
  throw new SignerError(
    "STORE_UNAVAILABLE",
    "the store of the keys cannot be written; the signer's log has the cause. Repeat the call when it is writable",
    { cause },
  );
}
