import { createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-web";
import {
  Signing,
  type SignRequest,
  SignRequest_Status as Status,
} from "../../gen/proto/tss/v1/signing_pb.ts";

/** Answers calls, and may learn of each message of a stream. */
export interface WatchOptions {
  /** The running replicas. */
  readonly baseUrls: () => readonly string[];
  readonly apiKey: string;
  /** Called when a stream to the replica begins, and when it ends. */
  readonly onStream: (baseUrl: string, isOpen: boolean) => void;
}

/** What a watcher saw. */
export interface Watched {
  /** The last one is final. */
  readonly states: readonly SignRequest[];
  /** How often a stream broke and the watcher resumed it by its cursor. */
  readonly resumeCount: number;
}

/** Watches a request as a careful client does: if a stream ends too early, it resumes elsewhere by its cursor. */
export async function watchToEnd(signRequestId: string, options: WatchOptions): Promise<Watched> {
  const headers = { authorization: `Bearer ${options.apiKey}` };
  const states: SignRequest[] = [];
  let [cursor, resumeCount] = ["", 0];
  for (let turn = Math.floor(Math.random() * 1_000); ; turn++) {
    const urls = options.baseUrls();
    const baseUrl = urls[turn % urls.length];
    if (baseUrl === undefined) {
      await new Promise((resolve) => setImmediate(resolve));
      continue;
    }
    const { watchSign } = createClient(Signing, createConnectTransport({ baseUrl }));
    if (cursor !== "") resumeCount++;
    let isOpen = false;
    try {
      for await (const message of watchSign({ signRequestId, cursor }, { headers })) {
        if (!isOpen) options.onStream(baseUrl, true);
        isOpen = true;
        cursor = message.cursor;
        if (message.signRequest) states.push(message.signRequest);
        if (isFinal(message.signRequest)) return { states, resumeCount };
      }
    } catch {
      // The replica is gone, or announces that it stops. The cursor is valid on another one.
    } finally {
      if (isOpen) options.onStream(baseUrl, false);
    }
  }
}

function isFinal(request: SignRequest | undefined): boolean {
  return request?.status === Status.completed || request?.status === Status.failed;
}
