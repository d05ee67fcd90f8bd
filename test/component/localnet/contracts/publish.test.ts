/** A package that is published on the local network, which serves its model of the Treasury under the new id. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { GrpcTypes } from "@mysten/sui/grpc";
import type { Transaction } from "@mysten/sui/transactions";
import { normalizeSuiAddress } from "@mysten/sui/utils";
import { afterAll, beforeAll, expect, it } from "vitest";
import { localTreasuryPackage } from "../../../../src/localnet/contracts/treasury/treasury-package.ts";
import { type Executed, type Harness, hotWallet, startHarness } from "../harness.ts";

const { Ability, OpenSignatureBody_Type: BodyType } = GrpcTypes;
const me = hotWallet.toSuiAddress();
let dataDirectory: string;
let harness: Harness;
let published: Executed;

beforeAll(async () => {
  dataDirectory = await mkdtemp(path.join(tmpdir(), "localnet-"));
  harness = await startHarness({ dataDirectory });
  const { modules, dependencies } = localTreasuryPackage(harness.config.packages);
  published = await harness.run((tx) =>
    tx.transferObjects([tx.publish({ modules: [...modules], dependencies: [...dependencies] })], me),
  );
});
afterAll(async () => {
  await harness.close();
  await rm(dataDirectory, { recursive: true });
});

const createdOf = (type: string) =>
  published.effects.changedObjects.find(({ objectId }) => published.objectTypes[objectId]?.endsWith(type))!;
const packageOf = () =>
  published.effects.changedObjects.find(({ outputState }) => outputState === "PackageWrite")!.objectId;

/** Pauses or resumes the new Treasury. */
function setPaused(tx: Transaction, packageId: string, isPaused: boolean): void {
  tx.moveCall({
    target: `${packageId}::treasury::set_paused`,
    arguments: [
      tx.object(createdOf("::Treasury").objectId),
      tx.object(createdOf("::AdminCap").objectId),
      tx.pure.bool(isPaused),
    ],
  });
}

it("a publication creates a shared Treasury, its AdminCap and the UpgradeCap, like the Move package", async () => {
  expect(createdOf("::Treasury").outputOwner?.$kind).toBe("Shared");
  expect(createdOf("::AdminCap").outputOwner?.AddressOwner).toBe(me);
  expect(
    createdOf("0x0000000000000000000000000000000000000000000000000000000000000002::package::UpgradeCap"),
  ).toBeDefined();
  const { object } = await harness.client.getObject({ objectId: packageOf() });
  expect(object.owner.$kind).toBe("Immutable");
});

it("a published package, one of Ika's and one of Sui's list their functions and their only version", async () => {
  const { movePackageService } = harness.client;
  const expected = [
    [packageOf(), "treasury", "set_paused"],
    [harness.config.packages.ikaDwallet2pcMpcPackage, "coordinator", "register_encryption_key"],
    [normalizeSuiAddress("0x2"), "coin", "value"],
  ] as const;
  for (const [packageId, moduleName, name] of expected) {
    const found = (await movePackageService.getPackage({ packageId })).response.package!;
    expect(found).toMatchObject({ storageId: packageId, originalId: packageId, version: 1n });
    const own = found.modules.find((module) => module.name === moduleName)!.functions;
    const described = (await movePackageService.getFunction({ packageId, moduleName, name })).response
      .function;
    expect(own).toContainEqual(described);
    const { response } = await movePackageService.listPackageVersions({ packageId });
    expect(response).toEqual({ versions: [{ packageId, version: 1n }] });
  }
  for (const packageId of ["0x1234", harness.net.treasury.treasuryId])
    await expect(movePackageService.getPackage({ packageId })).rejects.toMatchObject({ code: "NOT_FOUND" });
  const second = movePackageService.listPackageVersions({
    packageId: packageOf(),
    pageToken: Uint8Array.of(1),
  });
  await expect(second).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
});

it("a published package and the Treasury at genesis describe their datatypes as their sources declare them", async () => {
  const { movePackageService } = harness.client;
  for (const packageId of [packageOf(), harness.net.treasury.packageId]) {
    const datatypeOf = async (moduleName: string, name: string) =>
      (await movePackageService.getDatatype({ packageId, moduleName, name })).response.datatype!;
    const cap = await datatypeOf("roles", "AdminCap");
    const id = `${normalizeSuiAddress("0x2")}::object::ID`;
    expect(cap).toMatchObject({
      typeName: `${packageId}::roles::AdminCap`,
      definingId: packageId,
      module: "roles",
      name: "AdminCap",
      abilities: [Ability.KEY],
      typeParameters: [],
      kind: GrpcTypes.DatatypeDescriptor_DatatypeKind.STRUCT,
    });
    expect(cap.fields.map(({ name, position, type }) => [name, position, type?.typeName])).toEqual([
      ["id", 0, `${normalizeSuiAddress("0x2")}::object::UID`],
      ["treasury_id", 1, id],
    ]);
    const offered = await datatypeOf("roles", "AdminOffered");
    expect(offered.abilities).toEqual([Ability.COPY, Ability.DROP]);
    expect(offered.fields.map(({ name, type }) => [name, type?.type])).toEqual([
      ["treasury_id", BodyType.DATATYPE],
      ["to", BodyType.ADDRESS],
      ["from_epoch", BodyType.U64],
      ["is_recovery", BodyType.BOOL],
    ]);
    const { package: whole } = (await movePackageService.getPackage({ packageId })).response;
    expect(whole!.modules.find(({ name }) => name === "roles")!.datatypes).toContainEqual(cap);
  }
  const unknown = (packageId: string, name: string) =>
    movePackageService.getDatatype({ packageId, moduleName: "coin", name });
  await expect(unknown(packageOf(), "AdminCap")).rejects.toMatchObject({ code: "NOT_FOUND" });
  await expect(unknown("0x2", "Coin")).rejects.toThrow("bytecode");
  await expect(unknown("0x1234", "Coin")).rejects.toThrow("Package");
});

it("functions of a published package can be looked up and called, and those of an unknown package cannot", async () => {
  const moduleName = "treasury";
  const { function: found } = await harness.client.core.getMoveFunction({
    packageId: packageOf(),
    moduleName,
    name: "set_paused",
  });
  expect(found.parameters).toHaveLength(3);
  const unknown = `0x${"7".repeat(64)}`;
  await expect(
    harness.client.core.getMoveFunction({ packageId: unknown, moduleName, name: "set_paused" }),
  ).rejects.toThrow("not found");
  await harness.run((tx) => setPaused(tx, packageOf(), true));
  await expect(harness.run((tx) => setPaused(tx, unknown, true))).rejects.toThrow("Function Not Found");
  await expect(harness.run((tx) => setPaused(tx, harness.net.treasury.packageId, true))).rejects.toThrow(
    "TYPE_MISMATCH",
  );
});

it("a published package survives a restart of the network", async () => {
  await harness.close();
  harness = await startHarness({ dataDirectory });
  const executed = await harness.run((tx) => setPaused(tx, packageOf(), false));
  expect(executed.events.map(({ eventType }) => eventType)).toEqual([`${packageOf()}::treasury::PauseSet`]);
});
