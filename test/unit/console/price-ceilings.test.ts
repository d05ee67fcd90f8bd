import { create } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import {
  PriceCeiling_Operation as Operation,
  PriceCeilingSchema,
} from "../../../gen/client/tss/v1/admin_pb.ts";
import { groupCeilings } from "../../../src/console/operator/chain/price-ceilings.tsx";

describe("the price ceilings of the Treasury", () => {
  it("joins the algorithms of an operation only if their ceilings are equal", () => {
    const ceiling = (signatureAlgorithmName: string, maxIka: bigint) =>
      create(PriceCeilingSchema, {
        ...{ operation: Operation.sign, signatureAlgorithm: 0, signatureAlgorithmName },
        ...{ maxIka, maxSuiMist: 2n },
      });
    const groups = groupCeilings([ceiling("Taproot", 1n), ceiling("EdDSA", 3n), ceiling("Schnorrkel", 1n)]);
    expect(groups.map(({ names, maxIka }) => [names.join(), maxIka])).toEqual([
      ["Taproot,Schnorrkel", 1n],
      ["EdDSA", 3n],
    ]);
  });
});
