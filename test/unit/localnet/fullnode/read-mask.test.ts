import { GrpcTypes } from "@mysten/sui/grpc";
import { expect, test } from "vitest";
import { type MessageShape, parseReadMask } from "../../../../src/localnet/fullnode/wire/read-mask.ts";

const PROGRAM = GrpcTypes.ProgrammableTransaction.create({
  inputs: [{ pure: Uint8Array.of(1) }],
  commands: [{ command: { oneofKind: "publish", publish: { modules: [], dependencies: ["0x2"] } } }],
});
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
const parse = (paths: string[] | undefined, shape: MessageShape = GrpcTypes.ExecutedTransaction) =>
  parseReadMask<GrpcTypes.ExecutedTransaction>(shape, paths && { paths }, ["digest"]);
const project = (paths: string[] | undefined) => parse(paths).project(executed);

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

test.each(["nothing", "effects.nowhere", "digest.nowhere", "events.events.nowhere", "timestamp.seconds", ""])(
  "a path that the message lacks is refused by name: %s",
  (path) => {
    expect(() => parse(["digest", path])).toThrow(
      expect.objectContaining({ code: 3, message: `invalid read_mask path: ${path}` }),
    );
  },
);

test("a path below a oneof keeps only that field of the member that is set", () => {
  const kind = { oneofKind: "programmableTransaction", programmableTransaction: PROGRAM } as const;
  const sent = GrpcTypes.ExecutedTransaction.create({ transaction: { kind: { data: kind } } });
  const below = (name: string) => parse([`transaction.kind.${name}`]).project(sent).transaction?.kind?.data;
  expect(below("programmable_transaction.commands")).toEqual({
    oneofKind: "programmableTransaction",
    programmableTransaction: { inputs: [], commands: PROGRAM.commands },
  });
  expect(below("genesis.objects")).toEqual({ oneofKind: undefined });
});

test("a path below a map keeps the entry with that key", () => {
  const shape = { typeName: "test.Map", fields: [{ name: "by_name", localName: "byName", kind: "map" }] };
  const mask = parseReadMask<object>(shape, { paths: ["by_name.second"] }, []);
  expect(mask.project({ byName: { first: 1, second: 2 } })).toEqual({ byName: { second: 2 } });
});

test("a projected message can be encoded", () => {
  const binary = GrpcTypes.ExecutedTransaction.toBinary(project(["effects.status", "events.events.module"]));
  const decoded = GrpcTypes.ExecutedTransaction.fromBinary(binary);
  expect(decoded.effects?.status?.success).toBe(true);
  expect(decoded.events?.events[0]?.module).toBe("m");
  expect(decoded.events?.events[0]?.eventType).toBeUndefined();
});
