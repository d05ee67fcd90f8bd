import { Worker } from "node:worker_threads";
import { afterEach, expect, it } from "vitest";
import { createNetworkMpc, NetworkMpcError } from "../../../../src/localnet/mpc/create-network-mpc.ts";
import type { NetworkMpc } from "../../../../src/localnet/mpc/engine.ts";
import { networkParty } from "../../../../src/localnet/mpc/network-party.ts";

const seed = new Uint8Array(32).fill(7);
const sessionId = new Uint8Array(32).fill(1);
const presign = { curve: 2, signatureAlgorithm: 0, sessionId };
const garbage = new Uint8Array(10);
const badDkg = {
  curve: 2,
  sessionId,
  userDkgMessage: garbage,
  userPublicOutput: garbage,
  encryptedShareAndProof: garbage,
  encryptionKey: garbage,
};
let mpc: NetworkMpc | undefined;

afterEach(async () => {
  await mpc?.close();
  mpc = undefined;
});

/** A worker for one fault. */
const faulty = (code: string) => () => new Worker(code, { eval: true });

it("the worker gives the same answers as the party on the caller's thread", async () => {
  mpc = await createNetworkMpc({ seed });
  expect(await mpc.presign(presign)).toEqual(networkParty(seed, undefined).presign(presign));
  expect(await mpc.dkg(badDkg)).toMatchObject({ kind: "rejected" });
});

it("the worker runs presigns after everything else", async () => {
  mpc = await createNetworkMpc({ seed });
  const done: string[] = [];
  const note = (name: string) => () => void done.push(name);
  await Promise.all([
    mpc.presign(presign).then(note("first presign")),
    mpc.presign(presign).then(note("second presign")),
    mpc.dkg(badDkg).then(note("dkg")),
  ]);
  expect(done).toEqual(["first presign", "dkg", "second presign"]);
});

it("closing the MPC rejects the calls under way and all later ones, and a second close has no effect", async () => {
  mpc = await createNetworkMpc({ seed });
  const open = [mpc.networkDkgPublicOutput(), mpc.presign(presign)].map((call) =>
    call.catch((error: unknown) => error),
  );
  await mpc.close();
  for (const error of await Promise.all(open)) expect(error).toBeInstanceOf(NetworkMpcError);
  await expect(mpc.dkg(badDkg)).rejects.toThrow("was closed");
  await mpc.close();
});

it("a worker that dies rejects the calls under way and all later ones", async () => {
  const dies =
    'require("node:worker_threads").parentPort.once("message", () => { throw new Error("bad luck"); })';
  mpc = await createNetworkMpc({ seed }, faulty(dies));
  const calls = [mpc.presign(presign), mpc.presign(presign)];
  for (const call of await Promise.allSettled(calls)) {
    expect(call).toMatchObject({ status: "rejected", reason: { message: "the MPC worker failed" } });
  }
  await expect(mpc.presign(presign)).rejects.toThrow(NetworkMpcError);
});

it("a fault of the worker's code rejects that call only", async () => {
  const fails =
    'const { parentPort } = require("node:worker_threads"); let calls = 0;' +
    'parentPort.on("message", () => parentPort.postMessage(calls++ === 0 ? { kind: "failed", message: "oops" } : { kind: "rejected", reason: "no" }))';
  mpc = await createNetworkMpc({ seed }, faulty(fails));
  await expect(mpc.presign(presign)).rejects.toThrow("oops");
  expect(await mpc.presign(presign)).toEqual({ kind: "rejected", reason: "no" });
});

it("an input that cannot be sent rejects only its call", async () => {
  mpc = await createNetworkMpc({ seed });
  const unsendable = { ...presign, sessionId: (() => 0) as unknown as Uint8Array };
  const calls = [mpc.presign(unsendable), mpc.presign(presign)] as const;
  await expect(calls[0]).rejects.toThrow("cannot be sent");
  expect(await calls[1]).toMatchObject({ kind: "completed" });
});

it("a seed of another length is refused", async () => {
  await expect(createNetworkMpc({ seed: new Uint8Array(31) })).rejects.toThrow("32 bytes");
});
