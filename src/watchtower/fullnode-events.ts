import { GrpcTypes, SuiGrpcClient } from "@mysten/sui/grpc";
import { fetchBounded } from "../client/sdk/chain/fullnode.ts";
import { isObjectId } from "../protocol/chain/object-id.ts";

/** Connects to a fullnode whose events a watchtower reads. It sends nothing before the first call. */
export function connectEvents(url: string, network: string): FullnodeEvents {
  const fetch = (input: RequestInfo | URL, init?: RequestInit) => fetchBounded(input, init);
  const { ledgerService, core } = new SuiGrpcClient({
    network: network as "testnet",
    baseUrl: url,
    format: "binary",
    fetch,
  });
  return {
    host: new URL(url.replace(/^grpc/i, "http")).host,
    async position(signal) {
      const { response } = await ledgerService.getServiceInfo({}, { abort: signal });
      const { chainId, checkpointHeight, lowestAvailableCheckpoint = 0n } = response;
      if (chainId === undefined || checkpointHeight === undefined || checkpointHeight > MAX_CHECKPOINT)
        throw new Error("the fullnode names no chain or no checkpoint");
      return { chainId, latest: checkpointHeight, lowest: lowestAvailableCheckpoint };
    },
    async treasuryPackage(treasuryId, signal) {
      const { objects } = await core.getObjects({ objectIds: [treasuryId], signal });
      const [object] = objects;
      const type = object === undefined || object instanceof Error ? "" : object.type;
      const [id, module, name] = type.split("::");
      if (!isObjectId(id) || module !== "treasury" || name !== "Treasury")
        throw new Error(`the fullnode has no Treasury ${treasuryId}`);
      return id;
    },
    async events({ from, to, types, signal }) {
      const events: GrpcTypes.Event[] = [];
      let after: Uint8Array | undefined;
      let covered = from - 1n;
      for (let page = 0; page < PAGES_MAX_COUNT; page++) {
        const call = ledgerService.listEvents(requestOf({ from, to, types, after }), { abort: signal });
        for (const part of [call.status, call.trailers, call.headers]) part.catch(() => {});
        let end: GrpcTypes.QueryEndReason | undefined;
        for await (const frame of call.responses) {
          if (frame.event !== undefined) events.push(checked(frame.event, from, to));
          after = frame.watermark?.cursor ?? after;
          covered = frame.watermark?.checkpoint ?? covered;
          end = frame.end?.reason ?? end;
        }
        if (end === undefined) throw new Error("the fullnode's list of events has no end");
        if (end === Reason.CHECKPOINT_BOUND) return { events, covered: to };
        // A fullnode may have checkpoints whose events it has not indexed yet.
        if (end === Reason.LEDGER_TIP) return { events, covered: covered < to ? covered : to };
      }
      throw new TooManyEventsError();
    },
  };
}

/** A fullnode's events. Every call rejects when the fullnode does not answer. */
export interface FullnodeEvents {
  /** The host, which an alert may name. A URL may contain a key. */
  readonly host: string;
  position(signal: AbortSignal): Promise<FullnodePosition>;
  /** The first package of a Treasury. */
  treasuryPackage(treasuryId: string, signal: AbortSignal): Promise<string>;
  /** The events of these types in the checkpoints from `from` to `to`, both included, as far as they are indexed. */
  events(range: EventRange): Promise<EventList>;
}

/** All events from the beginning of a range up to a checkpoint. */
interface EventList {
  readonly events: readonly GrpcTypes.Event[];
  /** The last checkpoint whose events are in the list, or the one before the range. */
  readonly covered: bigint;
}

/** The chain of a fullnode, and the checkpoints that it has. */
interface FullnodePosition {
  readonly chainId: string;
  readonly latest: bigint;
  readonly lowest: bigint;
}

interface EventRange {
  readonly from: bigint;
  readonly to: bigint;
  readonly types: readonly string[];
  readonly signal: AbortSignal;
}

/** Thrown for a range with more events than a round may read. A shorter range may have fewer. */
export class TooManyEventsError extends Error {
  override readonly name = "TooManyEventsError";

  constructor() {
    super("the range of checkpoints has too many events");
  }
}

const { QueryEndReason: Reason } = GrpcTypes;
/** The largest event has 12 KiB, and a reply at most 4 MiB. */
const PAGE_SIZE = 100;
const PAGES_MAX_COUNT = 100;
const MAX_CHECKPOINT = 2n ** 60n;
const READ_MASK = {
  paths: ["event_type", "contents", "checkpoint", "transaction_digest", "event_index"],
};

function requestOf({
  from,
  to,
  types,
  after,
}: Omit<EventRange, "signal"> & { readonly after: Uint8Array | undefined }): GrpcTypes.ListEventsRequest {
  return {
    readMask: READ_MASK,
    startCheckpoint: from,
    endCheckpoint: to + 1n,
    filter: {
      terms: types.map((eventType) => ({
        literals: [{ negated: false, predicate: { oneofKind: "eventType", eventType: { eventType } } }],
      })),
    },
    options: { limit: PAGE_SIZE, ...(after && { after }) },
  };
}

function checked(event: GrpcTypes.Event, from: bigint, to: bigint): GrpcTypes.Event {
  const { checkpoint, transactionDigest } = event;
  const isInRange = checkpoint !== undefined && checkpoint >= from && checkpoint <= to;
  if (!isInRange || transactionDigest === undefined || transactionDigest.length > 64)
    throw new Error("the fullnode returned an event outside of the asked checkpoints");
  return event;
}
