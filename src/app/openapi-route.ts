import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import type { PlainRoute } from "../transport/plain-routes.ts";
import { isNotModified } from "../transport/rest/not-modified.ts";

/** `GET /openapi.json`: the REST face of this version as an OpenAPI document. Read once, when the route is made. */
export function openApiRoute(): PlainRoute {
  const body = readFileSync(DOCUMENT);
  const etag = `"${createHash("sha256").update(body).digest("base64url")}"`;
  // Kept by caches, but asked for again: the same address has another document after an update.
  const headers = { etag, "cache-control": "no-cache" };
  return {
    path: "/openapi.json",
    isLimited: true,
    handle: (request) =>
      isNotModified(request.headers["if-none-match"] ?? null, etag)
        ? { status: 304, headers, body: "" }
        : { status: 200, headers: { ...headers, "content-type": "application/json" }, body },
  };
}

/** Beside the sources, and at the same place beside the compiled ones. */
const DOCUMENT = new URL("../../gen/openapi.json", import.meta.url);
