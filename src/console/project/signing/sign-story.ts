import { type Timestamp, timestampMs } from "@bufbuild/protobuf/wkt";
import { type SignRequest, SignRequest_Status as Status } from "../../../../gen/client/tss/v1/signing_pb.ts";

/**
 * Returns the stages that a sign request has reached, in order, without gaps: each one lasts until the next begins, and
 * the newest until the request is final, or until now. Omits a stage whose beginning the service does not know.
 */
export function signStory(request: StoryRequest, nowMs: number): readonly StoryStage[] {
  const { status, updateTime } = request;
  const isFinal = status === Status.completed || status === Status.failed;
  let earliestMs = Number.NEGATIVE_INFINITY;
  const begun = STAGES.flatMap(({ name, doing, begin }) => {
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
  "status" | "createTime" | "updateTime" | "submitTime" | "sendTime" | "landTime"
>;

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

interface Stage extends Pick<StoryStage, "name" | "doing"> {
  begin(request: StoryRequest): Timestamp | undefined;
}

function sinceChange({ status, updateTime }: StoryRequest, wanted: Status): Timestamp | undefined {
  return status === wanted ? updateTime : undefined;
}

/** Returns the entries of the project's ledger that follow from a request's state, the oldest first. */
export function ledgerEntriesOf(request: LedgerRequest): readonly StoryEntry[] {
  const { signRequestId, priceMicroUsd, status, submitTime, updateTime, failure } = request;
  const isCharged = CHARGED.includes(status) || submitTime !== undefined || failure?.refunded === true;
  if (!isCharged) return [];
  const charge = { id: `sign:${signRequestId}`, amountMicroUsd: -priceMicroUsd, time: submitTime };
  const refund = { id: `refund:${signRequestId}`, amountMicroUsd: priceMicroUsd, time: updateTime };
  return failure?.refunded ? [charge, refund] : [charge];
}

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
  "signRequestId" | "priceMicroUsd" | "status" | "submitTime" | "updateTime" | "failure"
>;

/** Returns the id of a key or a session in the name of an actor; undefined for another actor. */
export function actorId(actor: string, kind: "key" | "session"): string | undefined {
  return actor.startsWith(`${kind}:`) ? actor.slice(kind.length + 1) : undefined;
}
