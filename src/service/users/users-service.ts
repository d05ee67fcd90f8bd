import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import { type User, UserSchema, type Users } from "../../../gen/proto/tss/v1/users_pb.ts";
import { callerOf } from "../access/caller.ts";
import type { SessionDeps } from "./sessions.ts";
import {
  createUser,
  deleteUser,
  freezeUser,
  listUsers,
  readUser,
  type UserRow,
  unfreezeUser,
} from "./users.ts";

/** Implements `tss.v1.Users`. */
export function createUsersService(deps: UsersServiceDeps): ServiceImpl<typeof Users> {
  const { database, lookup, usersMaxCountOf } = deps;
  return {
    async createUser({ reference }, context) {
      const caller = callerOf(context, "project");
      return encodeUser(await createUser(database, caller, reference, usersMaxCountOf(caller.network)));
    },
    async getUser({ reference }, context) {
      const { projectId } = callerOf(context, "project");
      return encodeUser(await readUser(database, { projectId, reference }));
    },
    async listUsers(request, context) {
      const { projectId } = callerOf(context, "project");
      const { rows, nextPageToken } = await listUsers(database, projectId, request);
      return { users: rows.map(encodeUser), nextPageToken };
    },
    async freezeUser({ reference }, context) {
      return encodeUser(await freezeUser(database, callerOf(context, "project"), reference));
    },
    async unfreezeUser({ reference }, context) {
      return encodeUser(await unfreezeUser(database, callerOf(context, "project"), reference));
    },
    async deleteUser({ reference }, context) {
      const endedIds = await deleteUser(database, callerOf(context, "project"), reference);
      for (const id of endedIds) lookup.forget(id);
      return {};
    },
  };
}

/** Dependencies of {@link createUsersService}. */
export type UsersServiceDeps = Pick<SessionDeps, "database" | "lookup" | "usersMaxCountOf">;

function encodeUser({ reference, createdAt, frozenAt }: UserRow): User {
  return create(UserSchema, {
    reference,
    createTime: timestampFromDate(createdAt),
    ...(frozenAt !== null && { freezeTime: timestampFromDate(frozenAt) }),
  });
}
