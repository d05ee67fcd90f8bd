import fc from "fast-check";
import { expect, test } from "vitest";
import type { ChainObject, Owner } from "../../../../src/localnet/fullnode/objects/object.ts";
import { createObjectStore } from "../../../../src/localnet/fullnode/objects/object-store.ts";

const ids = ["0x1", "0x2", "0x3", "0x4", "0x5"];
const anyObject: fc.Arbitrary<ChainObject> = fc
  .record({
    id: fc.constantFrom(...ids),
    version: fc.bigInt(1n, 9n),
    owner: fc.oneof(
      fc.constantFrom("0xa", "0xb").map((address): Owner => ({ kind: "address", address })),
      fc.constantFrom("0xc", "0xd").map((parentId): Owner => ({ kind: "object", parentId })),
    ),
    type: fc.constantFrom("0x2::coin::Coin<S>", "0x2::coin::Coin<I>", "0x3::m::Cap"),
    isField: fc.boolean(),
  })
  .map(({ isField, ...object }) => ({
    ...object,
    digest: "",
    contents: new Uint8Array(),
    previousTransaction: "",
    storageRebate: 0n,
    field: isField
      ? { nameType: "u64", name: new Uint8Array(), valueType: "u64", childId: undefined }
      : undefined,
  }));

test("the indexes show exactly the current objects after any history", () => {
  const anyStep = fc.record({ written: fc.array(anyObject, { maxLength: 4 }), deleted: fc.subarray(ids) });
  fc.assert(
    fc.property(fc.array(anyStep, { maxLength: 20 }), (steps) => {
      const store = createObjectStore();
      const model = new Map<string, ChainObject>();
      for (const { written, deleted } of steps) {
        store.apply(written, deleted);
        for (const id of deleted) model.delete(id);
        for (const object of written) model.set(object.id, object);
      }
      const all = [...model.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
      expect(store.size).toBe(all.length);
      for (const id of ids) expect(store.get(id)).toBe(model.get(id));
      for (const address of ["0xa", "0xb"]) {
        const owned = all.filter(
          (object) => object.owner.kind === "address" && object.owner.address === address,
        );
        expect(store.owned(address)).toEqual(owned);
        expect(store.owned(address, "0x2::coin::Coin")).toEqual(
          owned.filter((object) => object.type.includes("Coin")),
        );
        expect(store.owned(address, "0x3::m::Cap")).toEqual(
          owned.filter((object) => object.type === "0x3::m::Cap"),
        );
      }
      for (const parent of ["0xc", "0xd"]) {
        const fields = all.filter(
          (object) =>
            object.owner.kind === "object" && object.owner.parentId === parent && object.field !== undefined,
        );
        expect(store.fields(parent)).toEqual(fields);
      }
    }),
  );
});
