// Package compose checks the repository's docker-compose.yml and Dockerfile, as
// tests, without a Docker engine.
package compose
