/** Parameters with full tables from a real network key equal those of ika-wasm 0.2.1 octet for octet. */
import { createHash } from "node:crypto";
import { expect, it } from "vitest";
import {
  buildProtocolParameters,
  FULL_TABLES,
} from "../../src/protocol/parameters/build-protocol-parameters.ts";
import { REAL_OUTPUTS, REAL_PARAMETERS } from "../component/protocol/parameters/network-key-outputs.ts";
import { environment } from "../support/environment.ts";

// The tables of one curve take five seconds. Other runs compare compact tables on all curves, in network-key-output.test.ts.
const SHOWN = REAL_PARAMETERS.filter(({ curve }) => curve === 3 || environment.isReference);

it.each(SHOWN)(
  "from a reconfiguration's output of version 4, on curve $curve",
  { timeout: 120_000 },
  ({ curve, fullBytes, fullSha256 }) => {
    const built = buildProtocolParameters(curve, REAL_OUTPUTS.reconfigurationVersion4, FULL_TABLES);
    expect(built.length).toBe(fullBytes);
    expect(createHash("sha256").update(built).digest("hex")).toBe(fullSha256);
  },
);
