import { type Timestamp, timestampMs } from "@bufbuild/protobuf/wkt";
import {
  SignRequest_Hold_State as Hold,
  type SignRequest,
  SignRequest_Status as Status,
} from "../../../gen/client/tss/v1/signing_pb.ts";

/**
 * Returns the stages that a sign request has reached, in order, without gaps: each one lasts until the next begins, and
 * the newest until the request is final, or until now. Omits a stage whose beginning the service does not know.
 */
export function signStory(request: StoryRequest, nowMs: number): readonly StoryStage[] {
  const { status, updateTime, hold } = request;
  const isFinal = status === Status.completed || status === Status.failed;
  let earliestMs = Number.NEGATIVE_INFINITY;
  const begun = (hold === undefined ? STAGES : HOLD_STAGES).flatMap(({ name, doing, begin }) => {
    const time = begin(request);
    if (time === undefined) return [];
    // The clocks of two replicas differ too, and no stage is left of the axis.
    earliestMs = Math.max(earliestMs, timestampMs(time));
    return [{ name, doing, fromMs: earliestMs }];
  });
  const endMs = isFinal && updateTime !== undefined ? timestampMs(updateTime) : nowMs;
  return begun.map(({ name, doing, fromMs }, index) => {
    const next = begun[index + 1];
    // The clocks of the browser and the service differ.
    const toMs = Math.max(fromMs, next?.fromMs ?? endMs);
    const outcome =
      next !== undefined || status === Status.completed
        ? "done"
        : status === Status.failed
          ? "failed"
          : "now";
    return { name, doing, fromMs, toMs, outcome };
  });
}

/** A stage of a sign request. Times are milliseconds since 1970. */
export interface StoryStage {
  readonly name: string;
  /** Who does what in it. */
  readonly doing: string;
  readonly fromMs: number;
  readonly toMs: number;
  /** `now` while it lasts, and `failed` if the request ended in it without a signature. */
  readonly outcome: "done" | "now" | "failed";
}

type StoryRequest = Pick<
  SignRequest,
  "status" | "createTime" | "updateTime" | "submitTime" | "sendTime" | "landTime" | "hold"
>;

/** The stages of every request that begin once its signature is asked for. */
const LAST_STAGES: readonly Stage[] = [
  {
    name: "Sent",
    doing: "the transaction is stored and sent, until it is final",
    begin: ({ sendTime }) => sendTime,
  },
  {
    name: "Signing",
    doing: "the network computes the signature, and the service verifies it",
    begin: (request) => request.landTime ?? sinceChange(request, Status.submitted),
  },
];

const STAGES: readonly Stage[] = [
  {
    name: "Reserved",
    doing: "a presign is held, and the client computes its half",
    begin: ({ createTime }) => createTime,
  },
  {
    name: "Half received",
    doing: "it is verified and charged, and waits for a transaction",
    begin: (request) => request.submitTime ?? sinceChange(request, Status.queued),
  },
  ...LAST_STAGES,
];

/** After its release, the service does not know since when a half was held. */
const HOLD_STAGES: readonly Stage[] = [
  {
    name: "Reserved",
    doing: "the client gives its half, which then waits for its release",
    begin: ({ createTime }) => createTime,
  },
  {
    name: "Half received",
    doing: "it is charged, and the network verifies it",
    begin: (request) => sinceHold(request, Hold.verifying),
  },
  {
    name: "Held",
    doing: "the network has verified the half, which waits for its release",
    begin: (request) => sinceHold(request, Hold.held),
  },
  {
    name: "Released",
    doing: "the half waits for a transaction",
    begin: (request) => request.submitTime ?? sinceHold(request, Hold.released),
  },
  ...LAST_STAGES,
];

interface Stage extends Pick<StoryStage, "name" | "doing"> {
  begin(request: StoryRequest): Timestamp | undefined;
}

function sinceChange({ status, updateTime }: StoryRequest, wanted: Status): Timestamp | undefined {
  return status === wanted ? updateTime : undefined;
}

function sinceHold({ status, hold, updateTime }: StoryRequest, wanted: Hold): Timestamp | undefined {
  return status === Status.queued && hold?.state === wanted ? updateTime : undefined;
}

/** Returns the entries of the project's ledger that follow from a request's state, the oldest first. */
export function ledgerEntriesOf(request: LedgerRequest): readonly StoryEntry[] {
  const { signRequestId, priceMicroUsd, status, submitTime, updateTime, failure } = request;
  const isCharged = CHARGED.includes(status) || submitTime !== undefined || failure?.refunded === true;
  if (!isCharged) return [];
  const charge = { id: `sign:${signRequestId}`, amountMicroUsd: -priceMicroUsd, time: submitTime };
  const refunded = priceMicroUsd - keptOf(request);
  const refund = { id: `refund:${signRequestId}`, amountMicroUsd: refunded, time: updateTime };
  return failure?.refunded ? [charge, refund] : [charge];
}

/** Returns the part of the price that is not refunded: the price of the hold, if the half was held and not released. */
export function keptOf({ failure, hold }: Pick<SignRequest, "failure" | "hold">): bigint {
  const wasHeld = hold?.state === Hold.ended && hold.txDigest !== undefined;
  return wasHeld && ENDED_HELD.includes(failure?.reason ?? "") ? hold.priceMicroUsd : 0n;
}

/** The reasons of a half that the network had verified. */
const ENDED_HELD: readonly string[] = ["SIGN_CANCELLED", "HOLD_EXPIRED", "DWALLET_LEFT"];

const CHARGED: readonly Status[] = [Status.queued, Status.submitted, Status.completed];

/** A movement of money that the request caused. */
export interface StoryEntry {
  /** The id of the ledger entry. */
  readonly id: string;
  readonly amountMicroUsd: bigint;
  readonly time: Timestamp | undefined;
}

type LedgerRequest = Pick<
  SignRequest,
  "signRequestId" | "priceMicroUsd" | "status" | "submitTime" | "updateTime" | "failure" | "hold"
>;

/** Returns the id of a key or a session in the name of an actor; undefined for another actor. */
export function actorId(actor: string, kind: "key" | "session"): string | undefined {
  return actor.startsWith(`${kind}:`) ? actor.slice(kind.length + 1) : undefined;
}
