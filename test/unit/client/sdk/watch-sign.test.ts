import { Code, ConnectError } from "@connectrpc/connect";
import { expect, test } from "vitest";
import { SignRequest_Status as Status } from "../../../../gen/proto/tss/v1/signing_pb.ts";
import { pauseAfter, watchSign } from "../../../../src/client/sdk/actions/signing/watch-sign.ts";
import { createFakeService, SIGN_REQUEST_ID, serviceError } from "./fake-service.ts";

async function statesOf(service: ReturnType<typeof createFakeService>): Promise<Status[]> {
  const states: Status[] = [];
  for await (const { status } of watchSign(service.context, { signRequestId: SIGN_REQUEST_ID }))
    states.push(status);
  return states;
}

test("a watch returns each state once and ends with the last one, even if the stream breaks", async () => {
  const service = createFakeService();
  let messageCount = 0;
  service.script.watching = () => {
    if (++messageCount === 2) throw new ConnectError("the connection broke", Code.Unavailable);
  };
  const { prepared, queued, submitted, completed } = Status;
  service.script.signStatuses = [prepared, prepared, queued, queued, submitted, completed];
  expect(await statesOf(service)).toEqual([prepared, queued, submitted, completed]);
});

test("a watch returns no state twice, even if the service says that the request went back", async () => {
  const service = createFakeService();
  const { queued, submitted, completed } = Status;
  service.script.signStatuses = [queued, submitted, queued, submitted, completed];
  expect(await statesOf(service)).toEqual([queued, submitted, completed]);
});

test("a watch of a request that fails ends with its failure as a state", async () => {
  const service = createFakeService();
  service.script.signStatuses = [Status.queued, Status.failed];
  expect(await statesOf(service)).toEqual([Status.queued, Status.failed]);
});

test("a watch of an unknown request throws the service's reason", async () => {
  const service = createFakeService();
  service.script.before = () => {
    throw serviceError(Code.NotFound, "SIGN_REQUEST_NOT_FOUND");
  };
  await expect(statesOf(service)).rejects.toMatchObject({
    reason: "SIGN_REQUEST_NOT_FOUND",
    metadata: { signRequestId: SIGN_REQUEST_ID },
  });
});

test("a watch that its reader leaves keeps no stream and no timer", async () => {
  const service = createFakeService();
  let isAborted = false;
  service.script.before = (method, context) => {
    if (method === "watchSign") context.signal.addEventListener("abort", () => (isAborted = true));
  };
  const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length;
  const before = timers();
  service.script.signStatuses = [Status.prepared, Status.queued, Status.queued];
  for await (const { status } of watchSign(service.context, { signRequestId: SIGN_REQUEST_ID }))
    if (status === Status.queued) break;
  expect(isAborted).toBe(true);
  // Another test's timer may end meanwhile.
  expect(timers()).toBeLessThanOrEqual(before);
});

test("polls where there are no streams are rare, and notice a state at most a tenth of the wait later", () => {
  let passedMs = 0;
  let count = 0;
  for (; passedMs < 600_000; count++) {
    const pauseMs = pauseAfter(passedMs);
    expect(pauseMs).toBeLessThanOrEqual(Math.max(50, passedMs / 10));
    expect(pauseMs).toBeGreaterThanOrEqual(50);
    passedMs += pauseMs;
  }
  expect(count).toBeLessThan(200);
});
