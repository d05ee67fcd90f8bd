import { GrpcTypes } from "@mysten/sui/grpc";
import { expect, test } from "vitest";
import { applyReadMask } from "../../../../src/localnet/fullnode/wire/read-mask.ts";

const executed = GrpcTypes.ExecutedTransaction.create({
  digest: "d",
  checkpoint: 4n,
  effects: {
    status: { success: true },
    epoch: 2n,
    changedObjects: [{ objectId: "0x1", objectType: "t", inputVersion: 3n }],
  },
  events: { events: [{ module: "m", eventType: "e" }] },
});
const project = (paths: string[] | undefined, defaults: string[] = ["digest"]) =>
  applyReadMask(
    GrpcTypes.ExecutedTransaction,
    executed,
    paths === undefined ? undefined : { paths },
    defaults,
  );

test("no mask selects the defaults, and a star selects everything", () => {
  expect(project(undefined)).toEqual({ digest: "d", signatures: [], balanceChanges: [] });
  expect(project(["*"])).toBe(executed);
});

test("a path selects everything below it, even together with a longer path", () => {
  const whole = project(["effects"]);
  expect(whole.effects).toEqual(executed.effects);
  expect(project(["effects", "effects.status"]).effects).toEqual(executed.effects);
  expect(project(["effects.status", "effects"]).effects).toEqual(executed.effects);
});

test("a nested path drops every other field, even in repeated messages", () => {
  const { effects } = project(["effects.changed_objects.object_id"]);
  expect(effects?.changedObjects).toEqual([{ objectId: "0x1" }]);
  expect(effects?.status).toBeUndefined();
});

test("an unknown path selects nothing", () => {
  expect(project(["effects.nowhere", "nothing"]).digest).toBeUndefined();
});

test("a projected message can be encoded", () => {
  const binary = GrpcTypes.ExecutedTransaction.toBinary(project(["effects.status", "events.events.module"]));
  const decoded = GrpcTypes.ExecutedTransaction.fromBinary(binary);
  expect(decoded.effects?.status?.success).toBe(true);
  expect(decoded.events?.events[0]?.module).toBe("m");
  expect(decoded.events?.events[0]?.eventType).toBeUndefined();
});
