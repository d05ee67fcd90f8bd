import { create, type JsonObject, toJson } from "@bufbuild/protobuf";
import { expect } from "vitest";
import { ShareDWalletRequestSchema, Sharing } from "../../../../../../gen/proto/tss/v1/sharing_pb.ts";
import {
  recipientOf,
  type Sharable,
  sharable,
  sharedWith,
  type TestRecipient,
} from "../../../../../support/database/shares.ts";
import type { ErrorStack } from "../error-stack.ts";
import type { Provocation } from "./provocation.ts";

const { shareDWallet, removeHolder } = Sharing.method;

/** The owner's request to share the dWallet, in JSON. */
export function sharing(wallet: Sharable, recipient: TestRecipient): JsonObject {
  const message = create(ShareDWalletRequestSchema, wallet.request(recipient));
  return toJson(ShareDWalletRequestSchema, message) as JsonObject;
}

/** A dWallet of a new project, and a recipient without a user. */
export async function ownSharable(stack: ErrorStack) {
  const { projectId, key } = await stack.newProject();
  const wallet = await sharable(stack.database, projectId);
  return { key, wallet, recipient: await recipientOf(stack.database, projectId) };
}

/** Refusals of shares for other users. */
export const SHARING_PROVOCATIONS = {
  HOLDER_NOT_FOUND: [
    {
      how: "the removal of somebody who has no share",
      async provoke(stack, protocolClient) {
        const { key, wallet, recipient } = await ownSharable(stack);
        const request = { dwalletId: wallet.objectId, holderAddress: recipient.address };
        return protocolClient.call({ method: removeHolder, key, request });
      },
      metadata: { dwalletId: expect.stringMatching(/^0x/) },
    },
  ],
  TOO_MANY_HOLDERS: [
    {
      how: "a ninth holder of a dWallet",
      async provoke(stack, protocolClient) {
        const { key, wallet, recipient } = await ownSharable(stack);
        for (let count = 0; count < 8; count++)
          await sharedWith(stack.database, wallet, await recipientOf(stack.database, wallet.projectId));
        return protocolClient.call({ method: shareDWallet, key, request: sharing(wallet, recipient) });
      },
      metadata: { dwalletId: expect.stringMatching(/^0x/), maxCount: "8" },
    },
  ],
} as const satisfies Record<string, readonly Provocation[]>;
