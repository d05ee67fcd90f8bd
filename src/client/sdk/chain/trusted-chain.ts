import { normalizeStructTag } from "@mysten/sui/utils";
import { bytesToHex } from "@noble/hashes/utils.js";
import type { ChainReader, FullnodeObject } from "../../../protocol/chain/chain-reader.ts";
import { sleep } from "../../../protocol/chain/poll.ts";
import { FinalReadError } from "../../../protocol/chain/read-errors.ts";
import type { Action } from "../action.ts";
import { TssError } from "../errors.ts";
import type { ChainPosition, Fullnode } from "./fullnode.ts";
import type { IkaObjects } from "./network.ts";
import type { ObjectKind } from "./object-kinds.ts";

/** Creates a chain reader over fullnodes that need not be trusted individually. */
export function createTrustedChain(options: TrustedChainOptions): TrustedChain {
  let isChecked = false;
  const check = async (fullnodes: readonly Fullnode[], signal: AbortSignal): Promise<void> => {
    if (isChecked) return;
    const found = await askAll(fullnodes, signal, (fullnode, until) => fullnode.chainIdentifier(until));
    const expected = options.chainIdentifier ?? found[0];
    const other = found.findIndex((identifier) => identifier !== expected);
    if (other >= 0) {
      throw new TssError("NETWORK_MISMATCH", `${nameOf(fullnodes, other)} serves another chain`, {
        metadata: { fullnode: String(other + 1) },
      });
    }
    isChecked = true;
  };
  const typeCheck = async (action: Action, { type }: ObjectKind): Promise<(type: string) => boolean> => {
    if (type instanceof RegExp) return (found) => type.test(normalizeStructTag(found));
    const expected = normalizeStructTag(type((await options.ids(action)).ikaDwallet2pcMpcOriginalPackage));
    return (found) => found === expected;
  };
  const checked = async (action: Action): Promise<readonly Fullnode[]> => {
    const fullnodes = await options.fullnodes(action);
    await check(fullnodes, action.signal);
    return fullnodes;
  };
  const openReader = async (action: Action, kind: ObjectKind) => {
    const fullnodes = await checked(action);
    const isRight = await typeCheck(action, kind);
    return async (objectIds: readonly string[], signal = action.signal) => {
      const found = await agreed(fullnodes, kind, objectIds, action, signal);
      for (const [objectId, { type }] of found) {
        if (!isRight(type))
          throw final("OBJECT_MISMATCH", "the object is not what it should be", { objectId });
      }
      return found;
    };
  };
  return {
    ids: options.ids,
    async reader(action, kind) {
      const read = await openReader(action, kind);
      return {
        async getObjects(objectIds, signal) {
          const found = await read(objectIds, signal);
          return new Map([...found].map(([objectId, { content }]) => [objectId, content]));
        },
      };
    },
    async ownerOf(action, kind, objectId) {
      const read = await openReader(action, kind);
      return (await read([objectId])).get(objectId)?.owner;
    },
    async position(action) {
      const fullnodes = await checked(action);
      const found = await askAll(fullnodes, action.signal, (fullnode, until) => fullnode.position(until));
      // Fullnodes may differ at the end of an epoch. The lowest epoch is the safe one.
      return found.reduce((lowest, one) => (one.epoch < lowest.epoch ? one : lowest));
    },
  };
}

/** The chain that the client trusts. */
export interface TrustedChain {
  /** Returns the ids of Ika, the starting point of all reads. */
  ids(action: Action): Promise<IkaObjects>;
  /**
   * Creates a reader of objects of one kind. It reads every fullnode and returns the value that they agree on. The
   * first call checks that they serve the right chain: it throws NETWORK_MISMATCH for another chain, and
   * CHAIN_UNAVAILABLE when a fullnode does not answer.
   *
   * The reader waits while fullnodes differ, since one may lag behind. It throws CHAIN_UNAVAILABLE when one does not
   * answer, and a FinalReadError for FULLNODES_DISAGREE and for OBJECT_MISMATCH, an object of another kind.
   */
  reader(action: Action, kind: ObjectKind): Promise<ChainReader>;
  /** Returns the address or the object that owns an object, as all fullnodes report; undefined if none does. */
  ownerOf(action: Action, kind: ObjectKind, objectId: string): Promise<string | undefined>;
  /** Returns the chain's identifier, which all fullnodes share, and the lowest epoch that one of them reports. */
  position(action: Action): Promise<ChainPosition>;
}

/** Options of {@link createTrustedChain}. */
export interface TrustedChainOptions {
  /** Returns the fullnodes, which must all answer and agree. */
  fullnodes(action: Action): Promise<readonly Fullnode[]>;
  ids(action: Action): Promise<IkaObjects>;
  /** The digest of the genesis checkpoint. Undefined accepts any, if all fullnodes serve the same chain. */
  readonly chainIdentifier: string | undefined;
}

/** The time limit of one answer of a fullnode, and the number of attempts. */
const ANSWER_TIMEOUT_MS = 15_000;
const ATTEMPT_COUNT = 2;
/** The longest time that fullnodes may differ, which is also at most half of the action's remaining time. */
const MAX_LAG_MS = 30_000;
const FIRST_WAIT_MS = 100;
const MAX_WAIT_MS = 1000;

const ID_BYTES = 32;

/** Returns the answer that all fullnodes agree on. */
async function agreed(
  fullnodes: readonly Fullnode[],
  kind: ObjectKind,
  objectIds: readonly string[],
  action: Action,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, FullnodeObject>> {
  const end = performance.now() + Math.min(MAX_LAG_MS, action.remainingMs() / 2);
  for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(2 * waitMs, MAX_WAIT_MS)) {
    const answers = await askAll(fullnodes, signal, async (fullnode, until) => {
      const found = await fullnode.objects(objectIds, until);
      for (const [objectId, { content }] of found) {
        if (idIn(content) !== objectId) throw new Error("the contents are those of another object");
      }
      return found;
    });
    const [first, ...others] = answers as [ReadonlyMap<string, FullnodeObject>, ...typeof answers];
    const difference = findDifference(kind, objectIds, first, others);
    if (difference === undefined) return first;
    const remainingMs = end - performance.now();
    if (remainingMs <= 0) {
      const { objectId, position } = difference;
      const names = `${nameOf(fullnodes, 0)} and ${nameOf(fullnodes, position)}`;
      const metadata = { objectId, fullnode: String(position + 1) };
      throw final("FULLNODES_DISAGREE", `${names} do not agree on an object`, metadata);
    }
    await sleep(Math.min(waitMs, remainingMs), signal);
  }
}

function findDifference(
  kind: ObjectKind,
  objectIds: readonly string[],
  first: ReadonlyMap<string, FullnodeObject>,
  others: readonly ReadonlyMap<string, FullnodeObject>[],
): { objectId: string; position: number } | undefined {
  for (const [index, other] of others.entries()) {
    const objectId = objectIds.find((id) => factsOf(kind, first.get(id)) !== factsOf(kind, other.get(id)));
    if (objectId !== undefined) return { objectId, position: index + 1 };
  }
  return undefined;
}

/** Returns the relevant contents of an object. An object that cannot be parsed is compared as a whole. */
function factsOf(kind: ObjectKind, object: FullnodeObject | undefined): string | undefined {
  if (object === undefined) return undefined;
  const { type, content, owner = "" } = object;
  const head = kind.isOwned === true ? `${type} ${owner}` : type;
  try {
    if (kind.facts !== undefined) return `${head} ${kind.facts(content)}`;
  } catch {}
  return `${head} ${bytesToHex(content)}`;
}

/** Returns the answers of all fullnodes. Retries at once, because an idle socket may be dead. */
async function askAll<T>(
  fullnodes: readonly Fullnode[],
  signal: AbortSignal,
  ask: (fullnode: Fullnode, until: AbortSignal) => Promise<T>,
): Promise<T[]> {
  return await Promise.all(
    fullnodes.map(async (fullnode, position) => {
      for (let attempt = 1; ; attempt++) {
        signal.throwIfAborted();
        try {
          return await ask(fullnode, AbortSignal.any([signal, AbortSignal.timeout(ANSWER_TIMEOUT_MS)]));
        } catch (cause) {
          signal.throwIfAborted();
          if (attempt < ATTEMPT_COUNT) continue;
          throw new TssError("CHAIN_UNAVAILABLE", `${nameOf(fullnodes, position)} does not answer`, {
            metadata: { fullnode: String(position + 1) },
            cause,
          });
        }
      }
    }),
  );
}

/** Returns the id of an object: its contents begin with it. */
function idIn(content: Uint8Array): string {
  return `0x${bytesToHex(content.subarray(0, ID_BYTES))}`;
}

/** Names a fullnode by its position in the caller's list: its URL may contain a key. */
function nameOf(fullnodes: readonly Fullnode[], position: number): string {
  return fullnodes.length === 1 ? "the fullnode" : `fullnode ${position + 1} of ${fullnodes.length}`;
}

function final(reason: string, message: string, metadata: Record<string, string>): FinalReadError {
  return new FinalReadError(message, { cause: new TssError(reason, message, { metadata }) });
}
