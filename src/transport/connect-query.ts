import { base64Decode } from "@bufbuild/protobuf/wire";
import { TransportError } from "./transport-error.ts";

/**
 * Checks the message in the query of a Connect GET (connectrpc.com/docs/protocol, Unary-Get-Request), because the RPC
 * library reports invalid base64 as a server error.
 * @throws TransportError VALIDATION
 */
export function checkConnectQuery(url: string): void {
  const { search, searchParams } = new URL(url);
  if (searchParams.get("encoding") === "json" && !isUtf8(search)) {
    throw new TransportError("VALIDATION", "the query is not UTF-8");
  }
  if (searchParams.get("base64") !== "1") return;
  try {
    base64Decode(searchParams.get("message") ?? "");
  } catch (cause) {
    throw new TransportError("VALIDATION", "the message in the query is not base64", { cause });
  }
}

/** Whether the decoded escapes are UTF-8. The library would replace invalid bytes instead of refusing them. */
function isUtf8(query: string): boolean {
  try {
    decodeURIComponent(query);
    return true;
  } catch {
    return false;
  }
}
