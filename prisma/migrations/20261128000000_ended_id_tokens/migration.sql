-- The time at which all sessions of a user were last ended. ID tokens from before it are not exchanged.
ALTER TABLE "project_user" ADD COLUMN "sessions_ended_at" TIMESTAMPTZ(3);
