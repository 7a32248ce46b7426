-- Run once by the image, as its superuser, when the database is new.
\getenv password POSTGRES_PASSWORD

-- Owns the database and what is in it, and makes the role that the service runs as.
CREATE ROLE recebe LOGIN CREATEROLE PASSWORD :'password';
ALTER DATABASE recebe OWNER TO recebe;

-- The image has asked for one. Without it the superuser is let in by the socket in the container, and from nowhere else.
ALTER ROLE postgres PASSWORD NULL;
