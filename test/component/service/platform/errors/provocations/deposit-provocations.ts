import { expect } from "vitest";
import { Billing } from "../../../../../../gen/proto/tss/v1/billing_pb.ts";
import { depositAddress } from "../../../../../../src/service/billing/deposits/deposit-address.ts";
import { systemClock } from "../../../../../../src/service/platform/lifecycle/clock.ts";
import { SUI } from "../../../../../support/database/deposits.ts";
import { objectId } from "../../../../../support/database/rows.ts";
import type { Provocation } from "./provocation.ts";

const { declareDeposit, getDepositAddress } = Billing.method;

/** Refusals of deposits and declarations. */
export const DEPOSIT_PROVOCATIONS = {
  DEPOSITS_DISABLED: [getDepositAddress, declareDeposit].map((method) => ({
    how: `${method.name} of a service without a master seed`,
    async provoke(stack, client) {
      const { url } = await stack.serve({ takesDeposits: false });
      const { key } = await stack.newProject();
      const request = method === declareDeposit ? { txDigest: stack.chain.pay(objectId()) } : {};
      return client.call({ method, key, request, url });
    },
  })),
  TOO_MANY_DEPOSIT_REFERENCES: [
    {
      how: "one more reference than a project may have",
      async provoke(stack, client) {
        const { projectId, key } = await stack.newProject();
        const { maxReferences } = stack.deposits;
        for (let count = 0; count < maxReferences; count++)
          await depositAddress(stack.deposits, { projectId, reference: `user-${count}` });
        return client.call({ method: getDepositAddress, key, request: { reference: "one-more" } });
      },
      metadata: { maxCount: "3" },
    },
  ],
  DEPOSIT_ADDRESS_PENDING: [
    {
      how: "a new address of a process without the master seed, while no other process makes it",
      async provoke(stack, client) {
        const requests = { signals: stack.signals, clock: systemClock, waitMs: 1 };
        const { url } = await stack.serve({ deposits: { masterSeed: undefined, requests } });
        const { key } = await stack.newProject();
        return client.call({ method: getDepositAddress, key, request: {}, url });
      },
    },
  ],
  DEPOSIT_NOT_FOUND: [
    {
      how: "a transaction that paid someone else",
      async provoke(stack, client) {
        const { key } = await stack.newProject();
        const txDigest = stack.chain.pay(objectId(), [SUI, 1n]);
        return client.call({ method: declareDeposit, key, request: { txDigest } });
      },
      metadata: { txDigest: expect.stringMatching(/^\w{43,44}$/) },
    },
  ],
  DEPOSIT_TAKEN: [
    {
      how: "a transaction that paid another project",
      async provoke(stack, client) {
        const [{ key }, other] = [await stack.newProject(), await stack.newProject()];
        const txDigest = stack.chain.pay(
          await depositAddress(stack.deposits, { projectId: other.projectId, reference: "" }),
          [SUI, 1n],
        );
        return client.call({ method: declareDeposit, key, request: { txDigest } });
      },
      metadata: { txDigest: expect.stringMatching(/^\w{43,44}$/) },
    },
  ],
  PRICE_FEED_STALE: [
    {
      how: "a deposit of a coin without a fresh price",
      async provoke(stack, client) {
        const { key, projectId } = await stack.newProject();
        const txDigest = stack.chain.pay(await depositAddress(stack.deposits, { projectId, reference: "" }), [
          SUI,
          1n,
        ]);
        return client.call({ method: declareDeposit, key, request: { txDigest } });
      },
      metadata: { coinTypes: SUI.coinType },
    },
  ],
} as const satisfies Record<string, readonly Provocation[]>;
