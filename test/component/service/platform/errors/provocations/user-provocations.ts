import { expect } from "vitest";
import { Onboarding } from "../../../../../../gen/proto/tss/v1/onboarding_pb.ts";
import { Signing } from "../../../../../../gen/proto/tss/v1/signing_pb.ts";
import { Users } from "../../../../../../gen/proto/tss/v1/users_pb.ts";
import { signSteps } from "../../../../../support/crypto/sign-steps.ts";
import { dwalletOf, layoutOfSignMessage, readyPresigns } from "../../../../../support/database/rows.ts";
import { BOUNDS, type ErrorStack } from "../error-stack.ts";
import type { ProtocolClient } from "../protocol-client.ts";
import { registration } from "./onboarding-provocations.ts";
import type { Provocation } from "./provocation.ts";

const { createUser, getUser, freezeUser, unfreezeUser, deleteUser } = Users.method;
/** Every printable character that a path must escape. */
const REFERENCE = "a/b?c%2f#d e";

async function made(stack: ErrorStack, protocolClient: ProtocolClient, reference = REFERENCE) {
  const project = await stack.newProject();
  await protocolClient.call({ method: createUser, key: project.key, request: { reference } });
  return project;
}

async function frozen(stack: ErrorStack, protocolClient: ProtocolClient) {
  const project = await made(stack, protocolClient);
  const request = { reference: REFERENCE };
  await protocolClient.call({ method: freezeUser, key: project.key, request });
  return project;
}

const unknown = (method: (typeof Users.method)[keyof typeof Users.method]): Provocation => ({
  how: `a user that the project has not, of ${method.name}`,
  async provoke(stack, protocolClient) {
    const { key } = await stack.newProject();
    return protocolClient.call({ method, key, request: { reference: REFERENCE } });
  },
  metadata: { reference: REFERENCE },
});

/** Refusals of calls about users. */
export const USER_PROVOCATIONS = {
  USER_NOT_FOUND: [unknown(getUser), unknown(freezeUser), unknown(unfreezeUser), unknown(deleteUser)],
  USER_FROZEN: [
    {
      how: "a registration for a frozen user",
      async provoke(stack, protocolClient) {
        const { key } = await frozen(stack, protocolClient);
        const request = { ...registration().request, userReference: REFERENCE };
        return protocolClient.call({ method: Onboarding.method.registerEncryptionKey, key, request });
      },
      metadata: { reference: REFERENCE },
    },
    {
      how: "a half for a request that was reserved before its user was frozen",
      async provoke(stack, protocolClient) {
        const { projectId, key } = await stack.newProject();
        const dwallet = await dwalletOf(stack.database, projectId, { userReference: REFERENCE });
        await readyPresigns(stack.database, dwallet.bucket, 1);
        const signRequestId = await signSteps(stack.database, stack.signals).reserve(projectId, dwallet);
        await protocolClient.call({ method: freezeUser, key, request: { reference: REFERENCE } });
        const userSignMessage = Buffer.from(layoutOfSignMessage()).toString("base64");
        const request = { signRequestId, userSignMessage };
        return protocolClient.call({ method: Signing.method.submitSign, key, request });
      },
      metadata: { reference: REFERENCE },
    },
  ],
  USER_DELETED: [
    {
      how: "a user whose reference belonged to a deleted one",
      async provoke(stack, protocolClient) {
        const { key } = await made(stack, protocolClient);
        const request = { reference: REFERENCE };
        await protocolClient.call({ method: deleteUser, key, request });
        return protocolClient.call({ method: createUser, key, request });
      },
      metadata: { reference: REFERENCE },
    },
  ],
  TOO_MANY_USERS: [
    {
      how: "one user more than a project may have",
      async provoke(stack, protocolClient) {
        const { key } = await stack.newProject();
        for (let count = 0; count < BOUNDS.usersMaxCount; count++)
          await protocolClient.call({ method: createUser, key, request: { reference: `user-${count}` } });
        return protocolClient.call({ method: createUser, key, request: { reference: "one-more" } });
      },
      metadata: { maxCount: String(BOUNDS.usersMaxCount) },
    },
  ],
  WRONG_STATE: [
    {
      how: "the deletion of a user with a dWallet",
      async provoke(stack, protocolClient) {
        const { projectId, key } = await stack.newProject();
        await dwalletOf(stack.database, projectId, { userReference: REFERENCE });
        return protocolClient.call({ method: deleteUser, key, request: { reference: REFERENCE } });
      },
      metadata: { state: expect.stringMatching("Active") as string },
    },
  ],
} as const satisfies Record<string, readonly Provocation[]>;
