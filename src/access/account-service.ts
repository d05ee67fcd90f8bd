import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import type { Account } from "../../gen/proto/tss/v1/account_pb.ts";
import type { Database } from "../store/database.ts";
import { listApiKeys } from "./api-keys.ts";
import { callerOf } from "./caller.ts";
import { encodeAccountKey } from "./encode-keys.ts";
import { readProject } from "./projects.ts";

/** Implements `tss.v1.Account`. */
export function createAccountService({ database }: AccountServiceDeps): ServiceImpl<typeof Account> {
  return {
    async getAccount(_request, context) {
      const { projectId, apiKeyId, scopes } = callerOf(context, "project");
      const { name, network, createdAt } = await readProject(database, projectId);
      return {
        ...{ projectId, projectName: name, network },
        createTime: timestampFromDate(createdAt),
        apiKeyId,
        scopes: [...scopes],
      };
    },
    async listAccountKeys(request, context) {
      const { projectId, network } = callerOf(context, "project");
      const { rows, nextPageToken } = await listApiKeys(database, [network], { ...request, projectId });
      return { accountKeys: rows.map(encodeAccountKey), nextPageToken };
    },
  };
}

export interface AccountServiceDeps {
  readonly database: Pick<Database, "prisma" | "query">;
}
