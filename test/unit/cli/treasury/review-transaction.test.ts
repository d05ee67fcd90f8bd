import { bcs } from "@mysten/sui/bcs";
import { Transaction } from "@mysten/sui/transactions";
import { describe, expect, it } from "vitest";
import { addTreasuryCall } from "../../../../src/cli/treasury/add-treasury-call.ts";
import type { ReviewSubject } from "../../../../src/cli/treasury/review-commands.ts";
import { reviewTransaction } from "../../../../src/cli/treasury/review-transaction.ts";
import {
  packageDigest,
  treasuryPackageOf,
} from "../../../../src/localnet/contracts/treasury/treasury-package.ts";

const id = (digit: string): string => `0x${digit.repeat(64)}`;
const [SENDER, TREASURY, PACKAGE, CAP] = [id("1"), id("2"), id("3"), id("4")] as const;
const DIGEST = "11111111111111111111111111111111";
const PINNED = treasuryPackageOf("mainnet");
const SUBJECT: ReviewSubject = {
  network: "mainnet",
  chainIdentifier: "chain",
  treasuryId: TREASURY,
  packageIds: [PACKAGE],
  packageDigest: packageDigest(PINNED),
};
const TARGET = {
  packageId: PACKAGE,
  treasuryId: TREASURY,
  initialSharedVersion: "5",
  adminCap: { objectId: CAP, version: "7", digest: DIGEST },
};

/** The bytes of a transaction, built without a network. */
async function built(add: (tx: Transaction) => void): Promise<Uint8Array> {
  const tx = new Transaction();
  tx.setSender(SENDER);
  tx.setGasBudget(50_000_000);
  tx.setGasPrice(1_000);
  tx.setGasPayment([{ objectId: id("9"), version: "1", digest: DIGEST }]);
  add(tx);
  return tx.build();
}

const review = async (add: (tx: Transaction) => void, subject = SUBJECT) =>
  reviewTransaction(await built(add), subject).text;

describe("a review shows", () => {
  it("the network, the Treasury, the sender, and the maximum cost of the gas", async () => {
    const text = await review((tx) => addTreasuryCall(tx, TARGET, "migrate", {}));
    expect(text).toContain("network   mainnet, chain chain");
    expect(text).toContain(`treasury  ${TREASURY}`);
    expect(text).toContain(`sender    ${SENDER}`);
    expect(text).toContain("gas       at most 0.050000000 SUI (50000000), paid by the sender");
  });

  it("every value of a call, with amounts for people and for machines", async () => {
    const text = await review((tx) => {
      addTreasuryCall(tx, TARGET, "drain", { ika: 1_500_000_000n, sui: 1n, to: id("a") });
      addTreasuryCall(tx, TARGET, "set_ceiling", {
        operation: 2,
        curve: 0,
        algorithm: 1,
        ika: 2n ** 64n - 1n,
        sui: 0n,
      });
      addTreasuryCall(tx, TARGET, "move_dwallets", { dwallets: [id("b"), id("c")] });
    });
    expect(text.split("\n\n")[1]).toBe(
      [
        "  1. drain: take coins out of the Treasury",
        `       AdminCap  ${CAP}`,
        "       ika       1.500000000 IKA (1500000000)",
        "       sui       0.000000001 SUI (1)",
        `       to        ${id("a")}`,
        "  2. set_ceiling: set the most that one operation may cost",
        `       AdminCap   ${CAP}`,
        "       operation  sign (2)",
        "       curve      SECP256K1 (0)",
        "       algorithm  Taproot (1)",
        "       ika        18446744073.709551615 IKA (18446744073709551615)",
        "       sui        0.000000000 SUI (0)",
        "  3. move_dwallets: send the capabilities of dWallets to the successor",
        `       AdminCap  ${CAP}`,
        `       dwallets  ${id("b")}`,
        `                 ${id("c")}`,
      ].join("\n"),
    );
  });

  it("the amount of a deposit, even if it is a whole coin", async () => {
    const whole = { objectId: id("5"), version: "1", digest: DIGEST };
    const text = await review((tx) => {
      const [sui] = tx.splitCoins(tx.gas, [7n]);
      addTreasuryCall(tx, TARGET, "deposit", { ika: tx.objectRef(whole), sui: sui! });
    });
    expect(text).toContain(`ika  the whole coin ${id("5")}`);
    expect(text).toContain("sui  0.000000007 SUI (7)");
  });

  it("the digest of the published package, and the recipient of the UpgradeCap", async () => {
    const text = await review(
      (tx) => {
        const cap = tx.publish({ modules: [...PINNED.modules], dependencies: [...PINNED.dependencies] });
        tx.transferObjects([cap], id("d"));
      },
      { ...SUBJECT, treasuryId: undefined },
    );
    expect(text).toContain(`digest  ${SUBJECT.packageDigest}`);
    expect(text).toContain(`to  ${id("d")}`);
  });

  it("a prominent warning if an upgrade is not to this version's code", async () => {
    const upgradeTo = (modules: readonly string[]) =>
      review((tx) => {
        const cap = tx.objectRef({ objectId: id("6"), version: "1", digest: DIGEST });
        const ticket = tx.moveCall({
          target: "0x2::package::authorize_upgrade",
          arguments: [cap, tx.pure.u8(0), tx.pure.vector("u8", [1])],
        });
        tx.upgrade({
          modules: [...modules],
          dependencies: [...PINNED.dependencies],
          package: PACKAGE,
          ticket,
        });
      });
    expect(await upgradeTo(PINNED.modules)).toContain("to the Treasury's package of this version");
    expect(await upgradeTo(PINNED.modules.slice(1))).toContain("to NOT the Treasury's package");
    expect(await upgradeTo(PINNED.modules)).toContain(`with  ${id("6")}`);
  });
});

describe("a review refuses", () => {
  const refused = async (add: (tx: Transaction) => void, why: string | RegExp, subject = SUBJECT) =>
    expect(review(add, subject)).rejects.toThrow(why);

  it("calls of other packages, modules and functions", async () => {
    const call = (target: string) => (tx: Transaction) => void tx.moveCall({ target });
    await refused(call(`${id("e")}::treasury::drain`), `the transaction calls ${id("e")}::treasury::drain`);
    await refused(call(`${PACKAGE}::roles::give`), "calls");
    await refused(call(`${PACKAGE}::treasury::pay_sign`), "calls");
    await refused(call(`${PACKAGE}::treasury::constructor`), "calls");
    await refused(call("0x2::coin::burn"), "calls");
  });

  it("calls of another Treasury, and of any if none is known", async () => {
    const migrate = (treasuryId: string) => (tx: Transaction) =>
      addTreasuryCall(tx, { ...TARGET, treasuryId }, "migrate", {});
    await refused(migrate(id("f")), `on ${id("f")}, not on this Treasury`);
    await refused(migrate(TREASURY), "not on this Treasury", { ...SUBJECT, treasuryId: undefined });
  });

  it("commands that give coins or objects away, and unknown commands", async () => {
    await refused((tx) => tx.transferObjects([tx.gas], id("a")), "transfers objects");
    await refused((tx) => tx.transferObjects([tx.objectRef(TARGET.adminCap)], id("a")), "transfers objects");
    await refused((tx) => void tx.makeMoveVec({ elements: [tx.gas] }), "MakeMoveVec");
    await refused(() => {}, "does nothing");
  });

  it("a publication of other modules, and an upgrade of another package", async () => {
    const dependencies = [...PINNED.dependencies];
    await refused(
      (tx) => void tx.publish({ modules: PINNED.modules.slice(1), dependencies }),
      "not the Treasury's",
    );
    await refused(
      (tx) => void tx.publish({ modules: [...PINNED.modules], dependencies: dependencies.slice(1) }),
      "not the Treasury's",
    );
    await refused(
      (tx) =>
        void tx.upgrade({ modules: [...PINNED.modules], dependencies, package: id("e"), ticket: tx.gas }),
      `upgrades the package ${id("e")}`,
    );
  });

  it("values that are missing, too many or malformed", async () => {
    const treasury = (tx: Transaction) =>
      tx.sharedObjectRef({ objectId: TREASURY, initialSharedVersion: "5", mutable: true });
    const drain = (values: (tx: Transaction) => never[]) => (tx: Transaction) =>
      void tx.moveCall({
        target: `${PACKAGE}::treasury::drain`,
        arguments: [treasury(tx), tx.objectRef(TARGET.adminCap), ...values(tx)],
      });
    await refused(
      drain(() => []),
      "called with 0 values, not 3",
    );
    await refused(
      drain((tx) => [tx.pure.u64(1), tx.pure.u64(1), tx.pure.bool(true)] as never[]),
      "to is malformed",
    );
  });

  it("bytes that are no transaction, and a transaction with trailing bytes", async () => {
    expect(() => reviewTransaction(Uint8Array.of(1, 2, 3), SUBJECT)).toThrow(
      "not the bytes of a transaction",
    );
    const bytes = await built((tx) => addTreasuryCall(tx, TARGET, "migrate", {}));
    expect(() => reviewTransaction(Uint8Array.from([...bytes, 0]), SUBJECT)).toThrow("exactly one");
  });

  it("a transaction of another chain", async () => {
    const data = bcs.TransactionData.parse(await built((tx) => addTreasuryCall(tx, TARGET, "migrate", {})));
    const during = { minEpoch: 1, maxEpoch: 2, minTimestamp: null, maxTimestamp: null, nonce: 0 };
    const on = (chain: string) =>
      bcs.TransactionData.serialize({
        V1: { ...data.V1!, expiration: { ValidDuring: { ...during, chain } } },
      }).toBytes();
    const other = "11111111111111111111111111111112";
    expect(reviewTransaction(on(other), { ...SUBJECT, chainIdentifier: other }).text).toContain(
      "from epoch 1 to epoch 2",
    );
    expect(() => reviewTransaction(on(other), SUBJECT)).toThrow(`is for the chain ${other}`);
  });
});
