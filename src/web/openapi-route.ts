import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import type { PlainRoute } from "../transport/plain-routes.ts";
import { isNotModified } from "../transport/rest/reply-head.ts";

/** `GET /openapi.json`: this version's REST API as an OpenAPI document. The file is read once. */
export function openApiRoute(): PlainRoute {
  const body = readFileSync(DOCUMENT);
  const etag = `"${createHash("sha256").update(body).digest("base64url")}"`;
  // Caches must revalidate, because the document changes with an update.
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

/** The path is the same relative to the sources and to the compiled files. */
const DOCUMENT = new URL("../../gen/openapi.json", import.meta.url);
