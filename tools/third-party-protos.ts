import { cpSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { file_buf_validate_validate } from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";
import { printProto } from "./print-proto.ts";

const { resolve } = createRequire(import.meta.url);
const GOOGLE = path.dirname(resolve("google-proto-files/package.json"));
const GRPC_HEALTH = path.join(path.dirname(resolve("grpc-health-check/package.json")), "proto");
const GRPC_REFLECTION = path.join(path.dirname(resolve("@grpc/reflection")), "../proto");
/** The source of each file, by its import path. */
const COPIED = {
  "google/api/annotations.proto": GOOGLE,
  "google/api/http.proto": GOOGLE,
  "google/api/httpbody.proto": GOOGLE,
  "google/rpc/code.proto": GOOGLE,
  "google/rpc/error_details.proto": GOOGLE,
  "google/rpc/status.proto": GOOGLE,
  // The package omits the first folder of the import path.
  "grpc/health/v1/health.proto": path.join(GRPC_HEALTH, "health/v1/health.proto"),
  "grpc/reflection/v1/reflection.proto": GRPC_REFLECTION,
  "grpc/reflection/v1alpha/reflection.proto": GRPC_REFLECTION,
};

const README = `# Protos of others

The protos that [ours](../proto/tss/v1) import, so that every code generator finds them. \`npm run generate\` copies Google's
and gRPC's from npm packages, and prints \`buf/validate/validate.proto\` from the descriptor in \`@bufbuild/protovalidate\`,
without its comments. All are under the Apache License 2.0.
`;

/**
 * Writes the protos that ours import into a folder, which is emptied first: Google's and gRPC's are copied from npm
 * packages, and `buf/validate/validate.proto`, which no npm package ships as text, is printed from the descriptor in
 * `@bufbuild/protovalidate`.
 */
export function layOutThirdPartyProtos(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
  for (const [file, from] of Object.entries(COPIED)) {
    cpSync(from.endsWith(".proto") ? from : path.join(from, file), path.join(folder, file));
  }
  mkdirSync(path.join(folder, "buf/validate"), { recursive: true });
  writeFileSync(path.join(folder, "README.md"), README);
  writeFileSync(path.join(folder, "buf/validate/validate.proto"), printProto(file_buf_validate_validate));
}
