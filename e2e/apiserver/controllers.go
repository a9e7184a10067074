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

// controllersCommand runs this binary as kube-controller-manager. The two servers keep process-wide state and cannot share
// a process.
const controllersCommand = "controllers"

func runControllers(flags []string) int {
	// Standard input closes whenever the process of the API server ends.
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	command := app.NewControllerManagerCommand()
	command.SetArgs(flags)
	return cli.Run(command)
}

// startControllers starts the controllers for garbage collection and namespaces. Other controllers would interfere with
// the tests.
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
	// Keeps the pipe open while both processes run.
	go func() { _ = command.Wait() }()
	return nil
}
