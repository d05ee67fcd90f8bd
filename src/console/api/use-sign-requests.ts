import { Code, ConnectError } from "@connectrpc/connect";
import { useEffect, useState } from "preact/hooks";
import type { SignRequest } from "../../../gen/client/tss/v1/signing_pb.ts";
import { sleep } from "../../protocol/poll.ts";
import { followSignRequest, isFinal } from "./follow-sign-request.ts";
import { useSession } from "./session-context.ts";

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

/** The numbers of states ascend in time, so the greater one is newer. */
function newerOf(listed: SignRequest, told: SignRequest | undefined): SignRequest {
  return told !== undefined && told.status >= listed.status ? told : listed;
}

/** Returns true if a watch is refused permanently. */
function isRefusal(cause: unknown): boolean {
  return REFUSALS.includes(ConnectError.from(cause).code);
}

const REFUSALS: readonly Code[] = [
  ...[Code.Unauthenticated, Code.PermissionDenied],
  ...[Code.NotFound, Code.InvalidArgument, Code.Unimplemented],
];
