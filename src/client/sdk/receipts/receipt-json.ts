import { fromJsonString, toJsonString } from "@bufbuild/protobuf";
import {
  type GetSignReceiptResponse,
  GetSignReceiptResponseSchema,
} from "../../../../gen/client/tss/v1/receipts_pb.ts";

/**
 * Writes a receipt as protobuf's JSON, to be kept in a file: the body of the REST call, and what `tss receipt get`
 * prints with `--json`.
 *
 * @example
 * await writeFile("receipt.json", receiptToJson(await receipts.getReceipt({ signRequestId })));
 */
export function receiptToJson(receipt: GetSignReceiptResponse): string {
  return toJsonString(GetSignReceiptResponseSchema, receipt, { alwaysEmitImplicit: true, prettySpaces: 2 });
}

/**
 * Reads a receipt from protobuf's JSON. Checks only its form: `verifyReceipt` checks the rest. Unknown fields, which a
 * newer service may add, are ignored.
 *
 * @throws {Error} when the text is not such JSON.
 *
 * @example
 * const receipt = receiptFromJson(await readFile("receipt.json", "utf8"));
 */
export function receiptFromJson(text: string): GetSignReceiptResponse {
  return fromJsonString(GetSignReceiptResponseSchema, text, { ignoreUnknownFields: true });
}
