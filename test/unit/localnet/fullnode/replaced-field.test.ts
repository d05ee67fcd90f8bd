/** A dynamic field that one transaction removes and adds again. */
import { toBase58 } from "@mysten/sui/utils";
import { expect, it } from "vitest";
import { createExecutionState } from "../../../../src/localnet/fullnode/execution/execution-state.ts";
import { sealChanges } from "../../../../src/localnet/fullnode/execution/seal-changes.ts";
import { addField, idName, removeField } from "../../../../src/localnet/fullnode/objects/dynamic-fields.ts";
import type { ChainObject } from "../../../../src/localnet/fullnode/objects/object.ts";

const ID = `0x${"01".repeat(32)}`;
const name = idName(`0x${"02".repeat(32)}`);
const DIGEST = toBase58(new Uint8Array(32));

it("A replaced dynamic field is reported with its version before the transaction and the one after", () => {
  const table = { id: ID, size: "0" };
  const first = createExecutionState(() => undefined, DIGEST);
  addField(first, table, name, "u64", Uint8Array.of(1));
  const [added] = sealChanges(first, 5n, DIGEST);
  const objects = new Map<string, ChainObject>([[added!.id, added!.after!]]);

  const second = createExecutionState((id) => objects.get(id), DIGEST);
  removeField(second, table, name);
  addField(second, table, name, "u64", Uint8Array.of(2));
  const changes = sealChanges(second, 6n, DIGEST);
  expect(changes.map(({ before, after }) => [before?.version, after?.version])).toEqual([[5n, 6n]]);
});
