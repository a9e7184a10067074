// Command apiserver is a real Kubernetes API server for tests: etcd without fsync and kube-apiserver in one process,
// and on request kube-controller-manager, with the controllers that need no nodes, in a second process.
//
//	apiserver --dir DIR [--controllers] [-- FLAG…]
//
// It listens on a loopback port that the kernel chooses. Once the server is ready, it writes DIR/kubeconfig and prints one
// line of JSON with its path. It runs until its standard input ends, so it never outlives its parent. FLAGs are passed to
// kube-apiserver. The logs are in DIR/*.log.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == controllersCommand {
		os.Exit(runControllers(os.Args[2:]))
	}
	dir := flag.String("dir", "", "folder for data, certificates, logs and the kubeconfig")
	controllers := flag.Bool("controllers", false, "run kube-controller-manager too")
	flag.Parse()
	stderr := os.Stderr
	if err := run(*dir, *controllers, flag.Args()); err != nil {
		fmt.Fprintln(stderr, "error:", err)
		os.Exit(1)
	}
}

func run(dir string, controllers bool, flags []string) error {
	if dir == "" {
		return errors.New("--dir names no folder")
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if err := logTo(logFile(dir)); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		cancel(nil)
	}()

	etcd, err := startEtcd(filepath.Join(dir, "etcd"), filepath.Join(dir, "etcd.log"))
	if err != nil {
		return fmt.Errorf("etcd does not start: %w", err)
	}
	defer etcd.Close()

	server, err := prepareAPIServer(dir, etcd.Clients[0].Addr().String(), flags)
	if err != nil {
		return fmt.Errorf("kube-apiserver does not start: %w", err)
	}
	done := make(chan error, 1)
	go func() { done <- server.run(ctx) }()
	if err := server.waitUntilReady(ctx, done); err != nil {
		return fmt.Errorf("kube-apiserver does not become ready, see %s: %w", server.log, err)
	}
	if controllers {
		if err := startControllers(ctx, dir, server.kubeconfig); err != nil {
			return fmt.Errorf("kube-controller-manager does not start: %w", err)
		}
	}
	if err := json.NewEncoder(os.Stdout).Encode(map[string]string{"kubeconfig": server.kubeconfig}); err != nil {
		return err
	}
	// If the context has ended, the error only reports the stop.
	if err := <-done; err != nil && ctx.Err() == nil {
		return fmt.Errorf("kube-apiserver stopped, see %s: %w", server.log, err)
	}
	return nil
}
