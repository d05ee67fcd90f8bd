import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { auditPath, merkleRoot, rootOfPath } from "../../../../src/protocol/seals/merkle-tree.ts";

const digest = (...parts: Uint8Array[]) => createHash("sha256").update(Buffer.concat(parts)).digest();
const hex = (bytes: Uint8Array | undefined) => bytes && Buffer.from(bytes).toString("hex");

/** The leaves and roots of Certificate Transparency's reference tests (merkletree, `test data`). */
const DATA = [
  "",
  "00",
  "10",
  "2021",
  "3031",
  "40414243",
  "5051525354555657",
  "606162636465666768696a6b6c6d6e6f",
];
const ROOTS = [
  "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
  "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
  "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
  "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
  "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
  "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
  "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
  "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
];
const leaves = DATA.map((data) => digest(Buffer.of(0), Buffer.from(data, "hex")));

describe("the Merkle tree", () => {
  it("has the roots of Certificate Transparency's reference", () => {
    expect(leaves.map((_, index) => hex(merkleRoot(leaves.slice(0, index + 1))))).toEqual(ROOTS);
  });

  it("has a proof from every leaf to the root of every tree, which holds for no other position", () => {
    for (let leafCount = 1; leafCount <= leaves.length; leafCount++) {
      const tree = leaves.slice(0, leafCount);
      for (let index = 0; index < leafCount; index++) {
        const path = auditPath(tree, index);
        expect(hex(rootOfPath(tree[index]!, { index, leafCount }, path))).toBe(ROOTS[leafCount - 1]);
        const others = Array.from({ length: leafCount + 1 }, (_, other) => other).filter((i) => i !== index);
        for (const other of others) {
          const root = rootOfPath(tree[index]!, { index: other, leafCount }, path);
          expect(hex(root)).not.toBe(ROOTS[leafCount - 1]);
        }
        expect(rootOfPath(tree[index]!, { index, leafCount }, [...path, tree[0]!])).toBeUndefined();
        if (leafCount > 1)
          expect(rootOfPath(tree[index]!, { index, leafCount }, path.slice(1))).toBeUndefined();
      }
    }
  });

  it("has at least one leaf", () => {
    expect(() => merkleRoot([])).toThrow("one leaf or more");
  });

  it.each([-1, leaves.length])("has no leaf at %i", (index) => {
    expect(() => auditPath(leaves, index)).toThrow("no such leaf");
    for (const path of leaves.map((_, other) => auditPath(leaves, other)))
      expect(rootOfPath(leaves[0]!, { index, leafCount: leaves.length }, path)).toBeUndefined();
  });
});
