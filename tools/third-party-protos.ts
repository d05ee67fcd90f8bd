import { cpSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { file_buf_validate_validate } from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";
import { printProto } from "./print-proto.ts";

const OUT = path.resolve(import.meta.dirname, "../third_party");
const GOOGLE = path.dirname(createRequire(import.meta.url).resolve("google-proto-files/package.json"));
const COPIED = [
  "google/api/annotations.proto",
  "google/api/http.proto",
  "google/api/httpbody.proto",
  "google/rpc/code.proto",
  "google/rpc/error_details.proto",
  "google/rpc/status.proto",
];

/**
 * Lays out the protos that ours import in `third_party/`, which git ignores: Google's are copied from an npm package,
 * and `buf/validate/validate.proto`, which no npm package ships as text, is printed from the descriptor inside
 * `@bufbuild/protovalidate`.
 */
export function layOutThirdPartyProtos(): void {
  rmSync(OUT, { recursive: true, force: true });
  for (const file of COPIED) cpSync(path.join(GOOGLE, file), path.join(OUT, file));
  mkdirSync(path.join(OUT, "buf/validate"), { recursive: true });
  writeFileSync(path.join(OUT, "buf/validate/validate.proto"), printProto(file_buf_validate_validate));
}
