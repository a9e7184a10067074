package main

import (
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"

	"k8s.io/component-base/cli"
	"k8s.io/kubernetes/cmd/kube-controller-manager/app"
)

// controllersCommand makes this binary be kube-controller-manager: the two servers keep process-wide state and cannot
// share a process.
const controllersCommand = "controllers"

func runControllers(flags []string) int {
	// The other end of standard input closes when the API server's process ends, however it does.
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	command := app.NewControllerManagerCommand()
	command.SetArgs(flags)
	return cli.Run(command)
}

// startControllers starts the controllers that decide what becomes of objects: garbage collection and namespaces. The
// others would write beside the tests.
func startControllers(ctx context.Context, dir, kubeconfig string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	log, err := os.Create(filepath.Join(dir, "kube-controller-manager.log"))
	if err != nil {
		return err
	}
	defer log.Close()
	command := exec.CommandContext(ctx, self, controllersCommand,
		"--kubeconfig="+kubeconfig,
		"--authentication-kubeconfig="+kubeconfig,
		"--authorization-kubeconfig="+kubeconfig,
		"--controllers=garbage-collector-controller,namespace-controller",
		"--leader-elect=false",
		"--secure-port=0",
		"--concurrent-gc-syncs=8",
	)
	command.Stdout, command.Stderr = log, log
	if _, err := command.StdinPipe(); err != nil {
		return err
	}
	if err := command.Start(); err != nil {
		return err
	}
	// Holds the pipe open as long as both processes live.
	go func() { _ = command.Wait() }()
	return nil
}
