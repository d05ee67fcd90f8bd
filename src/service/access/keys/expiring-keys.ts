import sql, { type Sql } from "sql-template-tag";

/**
 * Returns an expression `noticed` for a larger statement: up to `maxCount` keys that expire within 7 days or 1 day and have
 * no notice of it. Each key is in it at most twice. Its columns are `project_id`, `id`, `name`, `prefix` and `expires_at`.
 *
 * A key that was made for a shorter time gets no notice: its project has just chosen the time. A key that was rotated
 * expires on purpose. Sessions are not in it: they live for hours, and there are too many.
 */
export function keysToNotice(maxCount: number): Sql {
  return sql`due AS MATERIALIZED (
  SELECT k.id, n.notices FROM api_key k CROSS JOIN LATERAL (
    SELECT CASE WHEN k.expires_at <= now() + interval '1 day' THEN 2 ELSE 1 END AS notices
  ) n
  WHERE k.expires_at > now() AND k.expires_at <= now() + interval '7 days' AND k.revoked_at IS NULL
    AND k.expiry_notices < n.notices
    AND k.created_at < k.expires_at - CASE n.notices WHEN 2 THEN interval '1 day' ELSE interval '7 days' END
    AND NOT EXISTS (SELECT FROM api_key later WHERE later.rotated_from = k.id)
  ORDER BY k.expires_at LIMIT ${maxCount} FOR NO KEY UPDATE OF k SKIP LOCKED
), noticed AS (
  UPDATE api_key k SET expiry_notices = due.notices FROM due WHERE k.id = due.id
  RETURNING k.project_id, k.id, k.name, k.prefix, k.expires_at
)`;
}
