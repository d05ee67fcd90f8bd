import type { Transport } from "@connectrpc/connect";
import { type GetSignReceiptResponse, Receipts } from "../../../../gen/client/tss/v1/receipts_pb.ts";
import { createServiceCalls, type RequestOptions } from "../calls/service-calls.ts";
import { createDefaultTransport, withHeaders } from "../calls/transport.ts";

/**
 * Creates a client that fetches receipts. It sends nothing before the first call.
 *
 * @example
 * const { getReceipt } = createReceiptClient({ baseUrl, apiKey });
 * const receipt = await getReceipt({ signRequestId });
 */
export function createReceiptClient({
  baseUrl,
  apiKey,
  transport = createDefaultTransport(baseUrl),
}: ReceiptClientOptions): ReceiptClient {
  const authorised = withHeaders(transport, { authorization: `Bearer ${apiKey}` });
  return { getReceipt: createServiceCalls(Receipts, authorised).getSignReceipt };
}

/** Options of {@link createReceiptClient}. */
export interface ReceiptClientOptions {
  /** The service's URL, such as `http://127.0.0.1:3000`. */
  readonly baseUrl: string;
  /** A key of the project with the scope `billing`. A key for some users or dWallets gets no receipts. */
  readonly apiKey: string;
  /** Another Connect transport. The client adds its headers to it. Default: Connect over fetch with binary messages. */
  readonly transport?: Transport | undefined;
}

/** Fetches receipts. */
export interface ReceiptClient {
  /**
   * Reads the receipt of a signature: the request, the charge, and the proof that a seal of the audit trail covers
   * both. `verifyReceipt` checks it without the service, `receiptToJson` writes it down.
   *
   * @throws {TssError} SIGN_REQUEST_NOT_FOUND when the project has no such request.
   * @throws {TssError} WRONG_STATE when the request is not completed, or its submission is not sealed yet, which takes
   * some seconds.
   * @throws {TssError} RATE_LIMITED beyond five receipts a second.
   *
   * @example
   * const receipt = await receipts.getReceipt({ signRequestId });
   */
  getReceipt(
    args: { readonly signRequestId: string },
    options?: RequestOptions,
  ): Promise<GetSignReceiptResponse>;
}
