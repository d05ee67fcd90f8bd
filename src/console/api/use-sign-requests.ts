import { timestampMs } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError } from "@connectrpc/connect";
import { useEffect, useState } from "preact/hooks";
import { type SignRequest, SignRequest_Status as Status } from "../../../gen/client/tss/v1/signing_pb.ts";
import { sleep } from "../../protocol/chain/poll.ts";
import { type Session, useSession } from "./session.ts";

/**
 * Returns the newest states of listed requests. Follows the first open requests with streams, and the others only with
 * the list, because a browser has only six connections to one origin.
 */
export function useSignRequests(listed: readonly SignRequest[]): readonly SignRequest[] {
  const { signing } = useSession();
  const [told, setTold] = useState<ReadonlyMap<string, SignRequest>>(new Map());
  const newest = listed.map((request) => newerOf(request, told.get(request.signRequestId)));
  const followed = newest
    .filter((request) => !isFinal(request))
    .slice(0, STREAMS_MAX_COUNT)
    .map(({ signRequestId }) => signRequestId);
  useEffect(() => {
    const abort = new AbortController();
    const { signal } = abort;
    for (const id of followed) {
      const tell = (request: SignRequest): void => setTold((before) => new Map(before).set(id, request));
      // After a refused watch, the state from the list remains. The list shows its own failure.
      followSignRequest(signing, id, { signal, pause: sleep, isRefusal, tell }).catch(() => {});
    }
    return () => abort.abort();
  }, [signing, followed.join()]);
  return newest;
}

const STREAMS_MAX_COUNT = 3;

/**
 * Returns the newer of a request's states from the list and from the stream. The numbers of states ascend in time, so
 * the greater one is newer. A stream tells changes of the state alone, so only the list tells that the transaction of a
 * queued request was sent.
 */
export function newerOf<Request extends Pick<SignRequest, "status" | "sendTime" | "updateTime">>(
  listed: Request,
  told: Request | undefined,
): Request {
  if (told === undefined || told.status < listed.status) return listed;
  if (told.status > listed.status) return told;
  return listed.sendTime !== undefined || changeMs(listed) > changeMs(told) ? listed : told;
}

/** A hold moves on without a new status. */
function changeMs({ updateTime }: Pick<SignRequest, "updateTime">): number {
  return updateTime === undefined ? 0 : timestampMs(updateTime);
}

/** Returns true if a watch is refused permanently. */
function isRefusal(cause: unknown): boolean {
  return REFUSALS.includes(ConnectError.from(cause).code);
}

const REFUSALS: readonly Code[] = [
  ...[Code.Unauthenticated, Code.PermissionDenied],
  ...[Code.NotFound, Code.InvalidArgument, Code.Unimplemented],
];

/**
 * Follows a sign request with WatchSign until it is final. Reopens a broken stream from its cursor, with exponential
 * back-off. Rejects with the signal's reason if it aborts, and with the error of a permanent refusal.
 */
export async function followSignRequest(
  signing: Pick<Session["signing"], "watchSign">,
  signRequestId: string,
  { signal, pause, isRefusal, tell }: FollowOptions,
): Promise<void> {
  let cursor = "";
  for (let failureCount = 0; ; ) {
    try {
      for await (const message of signing.watchSign({ signRequestId, cursor }, { signal, timeoutMs: 0 })) {
        failureCount = 0;
        cursor = message.cursor;
        if (message.signRequest === undefined) continue;
        tell(message.signRequest);
        if (isFinal(message.signRequest)) return;
      }
    } catch (cause) {
      signal.throwIfAborted();
      if (isRefusal(cause)) throw cause;
      failureCount++;
    }
    await pause(Math.min(FIRST_PAUSE_MS * 2 ** failureCount, LONGEST_PAUSE_MS), signal);
  }
}

interface FollowOptions {
  readonly signal: AbortSignal;
  /** Waits. Rejects when the signal aborts. */
  pause(ms: number, signal: AbortSignal): Promise<void>;
  /** Returns true if a retry cannot succeed. */
  isRefusal(cause: unknown): boolean;
  /** Called with each state from the stream. */
  tell(request: SignRequest): void;
}

/** Returns true if the request can no longer change. */
export function isFinal({ status }: Pick<SignRequest, "status">): boolean {
  return status === Status.completed || status === Status.failed;
}

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 15_000;
