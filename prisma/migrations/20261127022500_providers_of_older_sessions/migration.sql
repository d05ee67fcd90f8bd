-- The audit trail knows the provider of the sessions that exist. The index of actors finds its events. Locks no table.
UPDATE "session" s SET "identity_provider_id" = i."id"
FROM "identity_provider" i JOIN "audit_event" e ON e."actor" = 'idp:' || i."id" AND e."action" = 'session.create'
WHERE s."id" = e."subject"::uuid AND s."project_id" = i."project_id" AND s."identity_provider_id" IS NULL
  AND s."expires_at" > now();
