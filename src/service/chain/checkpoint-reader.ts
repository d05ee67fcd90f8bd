import type { GrpcTypes } from "@mysten/sui/grpc";
import { normalizeStructTag, normalizeSuiAddress } from "@mysten/sui/utils";
import type { ChainNetwork } from "./fullnodes/network.ts";
import { retryRead } from "./fullnodes/retry-read.ts";
import { withDeadline } from "./fullnodes/with-deadline.ts";

/** Creates a reader that uses the network's client and reads only the gains of these coin types. */
export function createCheckpointReader(
  network: Pick<ChainNetwork, "client" | "backOff" | "times" | "clock">,
  coinTypes: readonly string[],
): CheckpointReader {
  const { client, backOff, times, clock } = network;
  const read = retryRead(network);
  return {
    async *subscribe(signal, onOpen) {
      try {
        const { responses } = await backOff.run(() => open(signal), signal);
        onOpen();
        for await (const { cursor, checkpoint } of responses)
          yield { sequence: checkedSequence(cursor), addresses: gainers(checkpoint, coinTypes) };
      } catch (cause) {
        throw hasCode(cause, NOT_SERVED) ? new CheckpointsNotServedError(cause) : cause;
      }
    },
    read(sequenceNumber) {
      const checkpointId = { oneofKind: "sequenceNumber", sequenceNumber } as const;
      return read(async (abort) => {
        try {
          const call = client.ledgerService.getCheckpoint({ checkpointId, readMask: READ_MASK }, { abort });
          const { checkpoint } = (await call).response;
          return { sequence: sequenceNumber, addresses: gainers(checkpoint, coinTypes) };
        } catch (cause) {
          if (hasCode(cause, ABSENT)) return undefined;
          throw cause;
        }
      });
    },
    async latest() {
      const { response } = await read(async (abort) => client.ledgerService.getServiceInfo({}, { abort }));
      return checkedSequence(response.checkpointHeight);
    },
  };

  /** Resolves once the fullnode has accepted the call. Without headers there is no stream. */
  async function open(signal: AbortSignal) {
    const call = client.subscriptionService.subscribeCheckpoints({ readMask: READ_MASK }, { abort: signal });
    // The messages end with the same error.
    for (const part of [call.status, call.trailers]) part.catch(() => {});
    await withDeadline(clock, times.readMs, () => call.headers);
    // Returning the call itself would wait for its end, because it is a promise.
    return { responses: call.responses };
  }
}

/** Reads checkpoints. Its results are hints: the fullnode itself computes the balance changes. */
export interface CheckpointReader {
  /**
   * Calls `onOpen` when the stream is open, then yields each checkpoint, in order, until the signal fires or the
   * fullnode ends the stream. Throws {@link CheckpointsNotServedError} if this fullnode has no such stream.
   */
  subscribe(signal: AbortSignal, onOpen: () => void): AsyncIterable<CheckpointGains>;
  /** Undefined if the fullnode lacks the checkpoint. Throws CHAIN_UNAVAILABLE. */
  read(sequence: bigint): Promise<CheckpointGains | undefined>;
  /** The fullnode's newest checkpoint. Throws CHAIN_UNAVAILABLE. */
  latest(): Promise<bigint>;
}

/** A checkpoint, and the addresses that gained coins in it. */
export interface CheckpointGains {
  readonly sequence: bigint;
  /** Normalised. May repeat an address. */
  readonly addresses: readonly string[];
}

/** Thrown if a fullnode does not serve a stream of checkpoints. */
export class CheckpointsNotServedError extends Error {
  override readonly name = "CheckpointsNotServedError";

  constructor(cause: unknown) {
    super("the fullnode does not serve a stream of checkpoints", { cause });
  }
}

/** Without this mask, checkpoints of public networks are about a hundred times larger. */
const READ_MASK = { paths: ["sequence_number", "transactions.balance_changes"] };
const ABSENT = ["NOT_FOUND", "OUT_OF_RANGE"];
/** A proxy in front of the fullnode answers with the latter three. */
const NOT_SERVED = ["UNIMPLEMENTED", "NOT_FOUND", "PERMISSION_DENIED", "UNAUTHENTICATED"];
/** Far beyond any chain, and far below what the database stores. */
const MAX_SEQUENCE = 2n ** 60n;

function hasCode(error: unknown, codes: readonly string[]): boolean {
  return error instanceof Error && "code" in error && codes.includes(String(error.code));
}

function checkedSequence(sequence: bigint | undefined): bigint {
  if (sequence === undefined || sequence > MAX_SEQUENCE)
    throw new Error(`the fullnode returned the invalid checkpoint number ${sequence}`);
  return sequence;
}

function gainers(
  checkpoint: GrpcTypes.Checkpoint | undefined,
  coinTypes: readonly string[],
): readonly string[] {
  return (checkpoint?.transactions ?? []).flatMap(({ balanceChanges }) =>
    balanceChanges.flatMap(({ address = "", coinType = "", amount = "" }) =>
      GAIN.test(amount) && ADDRESS.test(address) && isOneOf(coinTypes, coinType)
        ? [normalizeSuiAddress(address)]
        : [],
    ),
  );
}

const GAIN = /^[1-9]/;
const ADDRESS = /^0x[0-9a-f]{1,64}$/i;

function isOneOf(coinTypes: readonly string[], coinType: string): boolean {
  if (coinTypes.includes(coinType)) return true;
  // Most changes are in another coin, and normalising a type is slow.
  const name = coinType.slice(coinType.indexOf("::"));
  if (!coinTypes.some((known) => known.endsWith(name))) return false;
  try {
    return coinTypes.includes(normalizeStructTag(coinType));
  } catch {
    return false;
  }
}
