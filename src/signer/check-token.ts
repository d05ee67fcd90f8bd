import { createHash, timingSafeEqual } from "node:crypto";
import type { Secret } from "../service/platform/telemetry/secret.ts";
import { SignerError } from "./signer-error.ts";

/**
 * Creates the check of the header `authorization: Bearer <token>`. Throws SignerError MISSING_TOKEN or INVALID_TOKEN. It
 * compares digests in constant time.
 */
export function tokenCheck(token: Secret): (headers: Headers) => void {
  const expected = digestOf(token.reveal());
  return (headers) => {
    const [, sent] = /^Bearer +(\S+)$/i.exec(headers.get("authorization") ?? "") ?? [];
    if (sent === undefined)
      throw new SignerError("MISSING_TOKEN", "no token was sent: send `authorization: Bearer <token>`");
    if (!timingSafeEqual(digestOf(sent), expected))
      throw new SignerError("INVALID_TOKEN", "the token is wrong");
  };
}

function digestOf(text: string): Uint8Array {
  return new Uint8Array(createHash("sha256").update(text).digest());
}
