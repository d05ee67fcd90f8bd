import { brotliDecompressSync } from "node:zlib";
import { concatBytes } from "@noble/hashes/utils.js";
import { encodeVector } from "../../../../src/protocol/bytes.ts";
import recorded from "./network-key-outputs.json" with { type: "json" };

const tagged = (version: number, base64: string): Uint8Array => {
  const body = new Uint8Array(brotliDecompressSync(Buffer.from(base64, "base64")));
  return concatBytes(Uint8Array.of(version - 1), encodeVector(body));
};

/** Outputs of one real network key of four parties, as the chain has them. */
export const REAL_OUTPUTS = {
  dkgVersion2: tagged(2, recorded.dkgVersion2),
  dkgVersion4: tagged(4, recorded.dkgVersion4),
  reconfigurationVersion4: tagged(4, recorded.reconfigurationVersion4),
};

/** The digests of the parameters that ika-wasm 0.2.1 derives from {@link REAL_OUTPUTS}, by curve. */
export const REAL_PARAMETERS = recorded.parameters;
