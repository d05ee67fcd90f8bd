import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import type { PlainReply, PlainRequest, PlainRoute } from "../../transport/http/plain-routes.ts";
import { isNotModified } from "../../transport/rest/reply-head.ts";

/**
 * Creates the routes of the web console, one for each file of the build. `/console` is the page. Reads the files once,
 * so that no request can name a file on disk. Returns no route if the console was not built.
 */
export function consoleRoutes(folder: string | undefined = builtFolder()): PlainRoute[] {
  if (folder === undefined) return [];
  const assets = readdirSync(path.join(folder, ASSETS)).map((name) => `${ASSETS}/${name}`);
  const page = readRoute(folder, PAGE);
  return [
    { ...page, path: "/console" },
    { ...page, path: "/console/" },
    ...assets.map((file) => readRoute(folder, file)),
  ];
}

const PAGE = "index.html";
const ASSETS = "assets";

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".woff2": "font/woff2",
};

/** Files that are compressed already. */
const PACKED: readonly string[] = [".woff2"];

/** The page loads from and calls only its own origin, and no site can frame it. */
const SECURITY_HEADERS = {
  "content-security-policy": [
    ...["default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self' data:"],
    ...[
      "font-src 'self'",
      "connect-src 'self'",
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ],
  ].join("; "),
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
};

function readRoute(folder: string, file: string): PlainRoute {
  const body = readFileSync(path.join(folder, file));
  const type = TYPES[path.extname(file)];
  if (type === undefined) throw new Error(`the console has a file of an unknown type: ${file}`);
  const headers = {
    ...SECURITY_HEADERS,
    "content-type": type,
    // The names of all files except the page contain a hash of their content.
    "cache-control": file === PAGE ? "no-cache" : "public, max-age=31536000, immutable",
    vary: "accept-encoding",
  };
  const plain = { body, headers: { ...headers, etag: entityTag(body) } };
  const route = { path: `/console/${file}`, isLimited: true };
  if (PACKED.includes(path.extname(file))) return { ...route, handle: (request) => answer(plain, request) };
  const packed = gzipSync(body, { level: 9 });
  const gzipped = {
    body: packed,
    headers: { ...headers, etag: entityTag(packed), "content-encoding": "gzip" },
  };
  return { ...route, handle: (request) => answer(takesGzip(request) ? gzipped : plain, request) };
}

interface Representation {
  readonly body: Uint8Array;
  readonly headers: Readonly<Record<string, string>> & { readonly etag: string };
}

function answer({ body, headers }: Representation, request: Pick<PlainRequest, "headers">): PlainReply {
  if (!isNotModified(request.headers["if-none-match"] ?? null, headers.etag)) {
    return { status: 200, headers, body };
  }
  const { "content-type": _type, "content-encoding": _encoding, ...kept } = headers;
  return { status: 304, headers: kept, body: "" };
}

/** Returns true if the caller accepts gzip. A weight of zero refuses it (RFC 9110, 12.5.3). */
function takesGzip({ headers }: Pick<PlainRequest, "headers">): boolean {
  const accepted = [headers["accept-encoding"] ?? ""].flat().join(",").split(",");
  return accepted.some((coding) => /^\s*gzip\s*(?:;\s*q\s*=\s*(?!0(?:\.0*)?\s*$).*)?$/i.test(coding));
}

function entityTag(body: Uint8Array): string {
  return `"${createHash("sha256").update(body).digest("base64url")}"`;
}

/** The folder of the build: beside the compiled sources, or below `dist` if the sources themselves run. */
function builtFolder(): string | undefined {
  return ["../../../console", "../../../dist/console"]
    .map((place) => fileURLToPath(new URL(place, import.meta.url)))
    .find((folder) => existsSync(path.join(folder, PAGE)));
}

/** `GET /openapi.json`: an OpenAPI document, by default of this version's REST API. The file is read once. */
export function openApiRoute(document: URL = DOCUMENT): PlainRoute {
  const body = readFileSync(document);
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
const DOCUMENT = new URL("../../../gen/openapi.json", import.meta.url);
