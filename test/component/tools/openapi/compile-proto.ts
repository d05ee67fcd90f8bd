import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createFileRegistry, type FileRegistry, fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { layOutThirdPartyProtos } from "../../../../tools/third-party-protos.ts";

const BUF = path.resolve("node_modules/.bin/buf");
const CONFIG = "version: v2\nmodules: [{path: own}, {path: third_party}]\n";
const MAX_IMAGE_BYTES = 2 ** 26;

/** Compiles the text of a proto file, which may import the third-party ones. Comments are kept. */
export function compileProto(name: string, text: string): FileRegistry {
  const folder = mkdtempSync(path.join(tmpdir(), "protos-"));
  try {
    layOutThirdPartyProtos(path.join(folder, "third_party"));
    mkdirSync(path.join(folder, "own"));
    writeFileSync(path.join(folder, "own", name), text);
    writeFileSync(path.join(folder, "buf.yaml"), CONFIG);
    const options = { cwd: folder, maxBuffer: MAX_IMAGE_BYTES };
    const image = execFileSync(BUF, ["build", "own", "-o", "-#format=binpb"], options);
    return createFileRegistry(fromBinary(FileDescriptorSetSchema, image));
  } finally {
    rmSync(folder, { recursive: true });
  }
}
