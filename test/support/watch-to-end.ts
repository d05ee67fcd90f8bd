import { createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-web";
import {
  Signing,
  type SignRequest,
  SignRequest_Status as Status,
} from "../../gen/proto/tss/v1/signing_pb.ts";

/** Makes calls, and may observe each message of a stream. */
export interface WatchOptions {
  /** The running replicas. */
  readonly baseUrls: () => readonly string[];
  readonly apiKey: string;
  /** Called when a stream to the replica begins or ends. */
  readonly onStream: (baseUrl: string, isOpen: boolean) => void;
}

/** The observations of one watch. */
export interface Watched {
  /** The states, of which the last one is final. */
  readonly states: readonly SignRequest[];
  /** How often a stream broke and was resumed by its cursor. */
  readonly resumeCount: number;
}

/** Watches a request like a careful client: if a stream ends early, it resumes on another replica by its cursor. */
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
      // The replica is gone, or announces its shutdown. The cursor is valid on another one.
    } finally {
      if (isOpen) options.onStream(baseUrl, false);
    }
  }
}

function isFinal(request: SignRequest | undefined): boolean {
  return request?.status === Status.completed || request?.status === Status.failed;
}
