import { create } from "@bufbuild/protobuf";
import { type Timestamp, timestampFromMs } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError } from "@connectrpc/connect";
import { expect, it } from "vitest";
import {
  type SignRequest,
  SignRequest_Status as Status,
  type WatchSignResponse,
  WatchSignResponseSchema,
} from "../../../gen/client/tss/v1/signing_pb.ts";
import { followSignRequest, newerOf } from "../../../src/console/api/use-sign-requests.ts";

const message = (cursor: string, status?: Status): WatchSignResponse =>
  create(WatchSignResponseSchema, { cursor, ...(status !== undefined && { signRequest: { status } }) });

/** Follows a request through streams that each yield messages and then end or break. */
async function follow(streams: readonly (WatchSignResponse | ConnectError)[][], signal?: AbortSignal) {
  const cursors: (string | undefined)[] = [];
  const pausesMs: number[] = [];
  const told: Status[] = [];
  const left = [...streams];
  const following = followSignRequest(
    {
      async *watchSign({ cursor }) {
        cursors.push(cursor);
        for (const next of left.shift() ?? []) {
          if (next instanceof ConnectError) throw next;
          yield next;
        }
      },
    },
    "id",
    {
      signal: signal ?? new AbortController().signal,
      async pause(ms) {
        pausesMs.push(ms);
        if (left.length === 0) throw new Error("no more streams");
      },
      isRefusal: (cause) => ConnectError.from(cause).code === Code.NotFound,
      tell: ({ status }: SignRequest) => told.push(status),
    },
  );
  const failure: unknown = await following.then(
    () => undefined,
    (cause: unknown) => cause,
  );
  return { cursors, pausesMs, told, failure };
}

it("following a request reports every state until the final one, and nothing for a heartbeat", async () => {
  const { told, failure, cursors } = await follow([
    [
      message("a", Status.prepared),
      message("b"),
      message("c", Status.queued),
      message("d", Status.completed),
    ],
  ]);
  expect(told).toEqual([Status.prepared, Status.queued, Status.completed]);
  expect([failure, cursors]).toEqual([undefined, [""]]);
});

it("following a request resumes at the cursor after a break, and backs off longer after each failure", async () => {
  const broken = new ConnectError("gone", Code.Unavailable);
  const { told, pausesMs, cursors } = await follow([
    [message("a", Status.queued), broken],
    [broken],
    [broken],
    [message("b", Status.submitted)],
    [message("c", Status.completed)],
  ]);
  expect(told).toEqual([Status.queued, Status.submitted, Status.completed]);
  expect(cursors).toEqual(["", "a", "a", "a", "b"]);
  expect(pausesMs).toEqual([1_000, 2_000, 4_000, 500]);
});

it("following a request ends at a refusal", async () => {
  const refusal = new ConnectError("no such request", Code.NotFound);
  const { failure, pausesMs } = await follow([[refusal]]);
  expect([failure, pausesMs]).toEqual([refusal, []]);
});

it("following a request ends when it is aborted", async () => {
  const reason = new Error("the page is gone");
  const { failure } = await follow(
    [[new ConnectError("canceled", Code.Canceled)]],
    AbortSignal.abort(reason),
  );
  expect(failure).toBe(reason);
});

it("takes the sending of a queued request from the list, and every other news from the stream", () => {
  const state = (status: Status, sendTime?: Timestamp): Pick<SignRequest, "status" | "sendTime"> => ({
    status,
    ...(sendTime && { sendTime }),
  });
  const queued = state(Status.queued);
  const sent = state(Status.queued, timestampFromMs(1));
  const submitted = state(Status.submitted, timestampFromMs(1));
  expect(newerOf(sent, queued)).toBe(sent);
  expect(newerOf(queued, sent)).toBe(sent);
  expect(newerOf(sent, submitted)).toBe(submitted);
  expect(newerOf(submitted, queued)).toBe(submitted);
  expect(newerOf(queued, undefined)).toBe(queued);
});

it("of two states with one status, the later change is newer: a release changes the hold alone", () => {
  const held = { status: Status.queued, updateTime: timestampFromMs(1_000) };
  const released = { status: Status.queued, updateTime: timestampFromMs(2_000) };
  expect(newerOf(released, held)).toBe(released);
  expect(newerOf(held, released)).toBe(released);
});
